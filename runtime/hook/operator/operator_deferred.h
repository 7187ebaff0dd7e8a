/* Calls of libraries whose beginning and end are deferred with the launches between them
 * (deferred.h). The thread's running operators are then those of the flushed work, and change on
 * the thread that flushes it. All of these functions are about the calling thread. */
#ifndef RUNTIME_HOOK_OPERATOR_OPERATOR_DEFERRED_H
#define RUNTIME_HOOK_OPERATOR_OPERATOR_DEFERRED_H

#include "runtime/hook/operator/operator_stack.h"

/* As operator_is_open, but for what the program does now. For hooks that did not flush deferred
 * work. */
bool operator_deferred_or_other(void);
/* The owner of the thread's operators while a deferred operator runs; else NULL. */
struct operators *operator_deferred_owner(void);

/* Defers the beginning of a call, while no operator runs. `call` has a site, and is copied. False:
 * it is not deferred. Within a hook, without locks of hooks. */
bool operator_deferred_begin(const struct operator_library *call);
void operator_deferred_end(void);

#endif
