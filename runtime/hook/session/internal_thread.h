/* csan's own threads in the program's process. */
#ifndef RUNTIME_HOOK_SESSION_INTERNAL_THREAD_H
#define RUNTIME_HOOK_SESSION_INTERNAL_THREAD_H

#include <stdbool.h>

/* Starts a detached thread of that name (at most 15 bytes). It gets no signal of the program's, and
 * counts as being within a hook from its beginning. It may be started at any time, also at the end
 * of the process. False: it cannot be started. */
bool internal_thread_start(void *(*run)(void *), void *argument, const char *name);

#endif
