/* The embedded device's word on what each launch touched, brought together with the launch's op.
 *
 * The device calls back when a kernel has finished, on whatever thread ran it: before or after the
 * launching thread learnt the launch's number. Whoever comes second completes the op. */
#ifndef RUNTIME_HOOK_TRACE_H
#define RUNTIME_HOOK_TRACE_H

#include "include/csan/csan.h"

#include <stdbool.h>

struct kernel;
struct direct_touched;

/* 1 when the driver in this process is the embedded device and its word is wanted (option trace):
 * launches that PTX does not tell exactly are then told by trace_launch instead of csan_op. The
 * first call subscribes; call it before a launch is made. */
bool trace_active(void);

/* The newest launch of the calling thread is this op: pending, until the device says what it
 * touched; `touched` is its fallback. Wants the guard's lock, as any op does. */
void trace_launch(csan_lane lane, csan_site site, const struct kernel *kernel,
                  const struct direct_touched *touched);

/* The newest launch of the calling thread, if it was not told of yet, is not to be: what the device
 * says of it is dropped. */
void trace_skip(void);

/* Wait until the device has told of the launches made so far: a second at most, or until the
 * detector would go on without (option pending_timeout_ms). */
void trace_wait(void);

#endif
