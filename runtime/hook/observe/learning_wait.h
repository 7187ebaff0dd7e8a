/* Ops that wait for the trace of a launch before their own: of the same kernel, and of a key whose
 * trace is under way. Each is kept with its launch until a trace of the kernel is reported, and
 * then goes on with what is known, or with its fallback.
 *
 * As many wait as the detector holds back (option pending_limit): it has gone on without the oldest
 * of more. */
#ifndef RUNTIME_HOOK_OBSERVE_LEARNING_WAIT_H
#define RUNTIME_HOOK_OBSERVE_LEARNING_WAIT_H

#include <csan/csan.h>

struct launch_accesses_touched;
struct kernel;
struct learned_kernel;
struct learning;

/* Enqueues the op that waits, with the hooks' lock held. */
void learning_wait(const struct learning *learning, csan_lane lane, csan_site site,
                   const struct kernel *kernel, const struct launch_accesses_touched *touched);
/* A trace of that kernel was reported: those of its ops that need not wait any more go on. Without
 * any lock. */
void learning_wait_decide(const struct learned_kernel *learned);

#endif
