/* Whether a debugger, or another tracer, has this thread: it gets the traps of single steps itself.
 * For signal handlers, too. */
#ifndef RUNTIME_HOOK_HOST_DEBUGGER_H
#define RUNTIME_HOOK_HOST_DEBUGGER_H

#include <stdbool.h>

/* As of some milliseconds ago at most. */
bool debugger_is_here(void);

#endif
