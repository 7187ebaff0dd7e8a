/* What a launch was seen to touch, brought together with the launch's op.
 *
 * The source (trace_source.h) calls back when a kernel has finished, on whatever thread ran it:
 * before or after the launching thread learnt the launch's number. Whoever comes second completes
 * the op. */
#ifndef RUNTIME_HOOK_TRACE_H
#define RUNTIME_HOOK_TRACE_H

#include "include/csan/csan.h"

#include <stdbool.h>

struct kernel;
struct direct_touched;
struct judge_case;
struct trace_want;

/* Subscribes at the first call, where this process has a source; call it before a launch is made.
 */
void trace_start(void);

/* Before the driver's call: see struct trace_source. False: the launch is not traced. */
bool trace_want(const struct trace_want *what);

/* 1 when the device's word is wanted: launches that PTX does not tell exactly are then told by
 * trace_launch instead of csan_op. */
bool trace_active(void);
/* 1 when every launch is to be judged (option verify_ranges). */
bool trace_judges(void);

/* The newest launch of the calling thread is this op: pending, until the device says what it
 * touched; `touched` is its fallback. Wants the guard's lock, as any op does. `judged` is taken. */
void trace_launch(csan_lane lane, csan_site site, const struct kernel *kernel,
                  const struct direct_touched *touched, struct judge_case *judged);

/* The newest launch of the calling thread, if it was not told of yet, is no op that waits: what the
 * device says of it goes to `judged`, which is taken and may be NULL, and no further. */
void trace_skip(struct judge_case *judged);

/* Wait until the device has told of the launches made so far: a second at most, or until the
 * detector would go on without (option pending_timeout_ms). */
void trace_wait(void);

#endif
