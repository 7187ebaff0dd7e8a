/* What `csan help` can print for other programs: a manual page, and completions for shells. */
#ifndef RUNTIME_CLI_HELP_PAGE_H
#define RUNTIME_CLI_HELP_PAGE_H

#include <stdbool.h>
#include <stdio.h>

/* csan(1), in man macros. */
void help_page_manual(FILE *out);
/* For "bash" or "zsh". False: another shell. */
bool help_page_completion(FILE *out, const char *shell);

#endif
