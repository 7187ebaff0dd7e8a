/* Collectives. NCCL enqueues the calls of a group at the end of the outermost group, each on the
 * stream that it names (NCCL documentation, "Group Calls"). A kernel of NCCL may do the work of
 * several calls, on one of their streams, or launched by a thread of NCCL's own. So what a call
 * touches is an op of its own: on the call's stream, when the group ends. */
#ifndef RUNTIME_HOOK_LIBRARY_COLLECTIVE_H
#define RUNTIME_HOOK_LIBRARY_COLLECTIVE_H

#include "runtime/hook/state/callsite.h"
#include "runtime/hook/library/touch.h"

/* Whether the calling thread is in a group of calls. */
bool collective_in_group(void);

/* Called after the real call, which returned `result`. */
void collective_called(struct touch *call, const struct callsite_stack *stack, int result);

#endif
