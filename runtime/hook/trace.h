/* The embedded device's word on what each launch touched, brought together with the launch's op.
 *
 * The device calls back when a kernel has finished, on whatever thread ran it: before or after the
 * launching thread learnt the launch's number. Whoever comes second completes the op. */
#ifndef RUNTIME_HOOK_TRACE_H
#define RUNTIME_HOOK_TRACE_H

#include "include/csan/csan.h"

#include <stdbool.h>

/* A pointer argument of a launch: ranges in the allocation it points into are attributed to it. */
struct trace_pointer {
    uint64_t value;
    uint16_t argument;
};

/* 1 when the driver in this process is the embedded device: launches are then told by
 * trace_launch instead of csan_op. The first call subscribes; call it before a launch is made. */
bool trace_active(void);

/* The newest launch of the calling thread is this op: pending, until the device says what it
 * touched. `atomic_bytes`: the width of its atomics, or 0. Wants the guard's lock, as any op does.
 */
void trace_launch(csan_lane lane, csan_site site, enum csan_level fallback_level,
                  const struct csan_access *fallback, size_t fallback_count,
                  const struct trace_pointer *pointers, size_t pointer_count, uint8_t atomic_bytes);

/* The newest launch of the calling thread is not told of: what the device says of it is dropped. */
void trace_skip(void);

/* Wait until the device has told of the launches made so far: a second at most, or until the
 * detector would go on without (option pending_timeout_ms). */
void trace_wait(void);

#endif
