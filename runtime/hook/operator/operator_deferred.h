/* Calls of libraries whose beginning and end are deferred with the launches between them
 * (deferred.h). The thread's operators are then those of the work being flushed, and change on the
 * thread that flushes it. All of these are of the calling thread. */
#ifndef RUNTIME_HOOK_OPERATOR_OPERATOR_DEFERRED_H
#define RUNTIME_HOOK_OPERATOR_OPERATOR_DEFERRED_H

#include "runtime/hook/operator/operator_stack.h"

/* As operator_is_open, as of what the program does now, for hooks that did not work off. */
bool operator_deferred_or_other(void);
/* The owner of the thread's work while a deferred operator runs; else NULL. */
struct operators *operator_deferred_owner(void);

/* While no operator runs; `call` has a site, and is copied. False: it is not deferred. Within a
 * hook, without locks of hooks. */
bool operator_deferred_begin(const struct operator_library *call);
void operator_deferred_end(void);

#endif
