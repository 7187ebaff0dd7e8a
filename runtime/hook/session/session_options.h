/* What the environment asks of csan in this process: CSAN and CSAN_OPTIONS. */
#ifndef RUNTIME_HOOK_SESSION_SESSION_OPTIONS_H
#define RUNTIME_HOOK_SESSION_SESSION_OPTIONS_H

#include "csan/options.h"

#include <stdbool.h>

/* Whether csan is to be on. In a child that starts anew (`restarted`) nothing is said of wrong
 * settings, here or later: its parent did. */
bool process_is_wanted(bool restarted);
/* Reads the options, for process_options too. */
void process_options_read(void);
/* All of them, as last read. */
const struct options *process_all_options(void);

#endif
