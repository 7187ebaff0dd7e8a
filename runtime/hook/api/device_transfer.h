/* Copies and sets that neither touch the host's memory nor make the host wait. They are enqueued at
 * once or, as launches are, deferred (session/deferred.h). A framework that copies between launches
 * would otherwise wait in each copy for what was deferred before it. */
#ifndef RUNTIME_HOOK_API_DEVICE_TRANSFER_H
#define RUNTIME_HOOK_API_DEVICE_TRANSFER_H

#include <csan/csan.h>
#include "csan/base/range_map.h"
#include "runtime/hook/interpose/driver.h"
#include "runtime/hook/state/callsite.h"
#include "runtime/hook/state/stream.h"

#include <stdbool.h>
#include <stddef.h>

struct device_transfer {
    const struct driver_entry *entry;
    CUstream stream;
    const char *const *arguments; /* their names: one for each access */
    size_t count;
    struct csan_access accesses[2]; /* of no dimensions, or the first of one: */
    struct csan_dim dim;
    struct range written; /* from its first byte to its last */
};

/* In the detector, and in what csan knows of the memory that it writes. The stream is locked. */
void device_transfer_enqueue(const struct device_transfer *transfer, struct stream *stream,
                             csan_site site);

/* Defers it, after a call that succeeded. `stack`: of the call, as it would be entered; NULL within
 * a deferred operator, which has one. False: it may not be deferred, there is no room, or its place
 * in the program is new. Within a hook, without locks of hooks. */
bool device_transfer_defer(const struct device_transfer *transfer,
                           const struct callsite_stack *stack);

#endif
