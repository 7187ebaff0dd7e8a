/* csan's own threads in the program's process. */
#ifndef RUNTIME_HOOK_SESSION_INTERNAL_THREAD_H
#define RUNTIME_HOOK_SESSION_INTERNAL_THREAD_H

#include <stdbool.h>

/* A detached thread of that name (at most 15 bytes) that no signal of the program's is delivered
 * to, and that is within a hook from its beginning: at any time, the end of the process included.
 * False: there can be none. */
bool internal_thread_start(void *(*run)(void *), void *argument, const char *name);

#endif
