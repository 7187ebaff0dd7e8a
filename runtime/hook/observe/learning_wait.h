/* Ops that wait for the trace of an earlier launch of the same kernel, whose key is being traced.
 * Each is kept with its launch until a trace of the kernel is reported. It then goes on with what
 * is known, or with its fallback.
 *
 * At most as many wait as the detector holds back (option pending_limit). If there are more, the
 * oldest goes on without a trace. */
#ifndef RUNTIME_HOOK_OBSERVE_LEARNING_WAIT_H
#define RUNTIME_HOOK_OBSERVE_LEARNING_WAIT_H

#include <csan/csan.h>

struct launch_accesses_touched;
struct kernel;
struct learned_kernel;
struct learning;

/* Enqueues the op that waits. With the hooks' lock. */
void learning_wait(const struct learning *learning, csan_lane lane, csan_site site,
                   const struct kernel *kernel, const struct launch_accesses_touched *touched);
/* A trace of that kernel was reported: its ops that need not wait any more go on. Without any lock.
 */
void learning_wait_decide(const struct learned_kernel *learned);

#endif
