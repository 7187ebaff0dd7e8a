/* Parses a command's --help into the words that a shell completes and the text of the manual page.
 * There is no other list of a command's options, so all of these say the same. */
#ifndef RUNTIME_CLI_USAGE_TEXT_H
#define RUNTIME_CLI_USAGE_TEXT_H

#include "runtime/cli/command.h"

#include <stdbool.h>

/* The command's --help; free() it. NULL: no memory. */
char *usage_text_of(const struct command *command);

struct usage_flag {
    char name[48];    /* "--device", "-o" */
    char value[48];   /* "embedded", "FILE"; "" for none */
    char summary[96]; /* the first line of what it does */
    bool joined;      /* the value follows a '=', not a blank */
    bool literal;     /* it is to be written literally, and is no placeholder */
};

/* The next line of the text that describes an option. Starts at *at, and steps on. */
bool usage_flag_next(const char **at, struct usage_flag *flag);

#endif
