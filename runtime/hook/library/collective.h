/* Collectives: NCCL enqueues the calls of a group at the end of the outermost one, each on the
 * stream that it names (NCCL documentation, "Group Calls"). Its kernels may do the work of several
 * calls, on one of their streams or from a thread of its own, so what a call touches is an op
 * separate from them: on the call's stream, when the group ends. */
#ifndef RUNTIME_HOOK_LIBRARY_COLLECTIVE_H
#define RUNTIME_HOOK_LIBRARY_COLLECTIVE_H

#include "runtime/hook/state/callsite.h"
#include "runtime/hook/library/touch.h"

/* After the real call, which returned `result`. */
void collective_called(struct touch *call, const struct callsite_stack *stack, int result);

#endif
