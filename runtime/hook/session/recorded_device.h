/* Steps that say in a recording which device a stream works on, and which one the host's calls are
 * for: csan info --statistics counts calls by device. The calls that make contexts say it, so the
 * driver is not asked. Without a recording nothing happens. With the hooks' lock, all of them. */
#ifndef RUNTIME_HOOK_SESSION_RECORDED_DEVICE_H
#define RUNTIME_HOOK_SESSION_RECORDED_DEVICE_H

#include <csan/csan.h>
#include <stdbool.h>

/* The context is one of CUDA's device of that number. */
void recorded_device_is(const void *context, int device);
/* `part` is of the same device as `whole`. */
void recorded_device_within(const void *part, const void *whole);
/* Its handle may come again for another device. */
void recorded_device_ended(const void *context);

/* The lane is a stream of that context. */
void recorded_device_lane(csan_lane lane, const void *context);
/* The calls of the host from here on are made with that context. */
void recorded_device_host(const void *context);

#endif
