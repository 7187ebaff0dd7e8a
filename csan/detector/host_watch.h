/* Callbacks for a guard of the host's memory. They report what the device's ops touch there, each
 * time that the host is ordered after more ops, and each end of memory. The context calls them
 * under its lock, on the thread that entered it. They must not call the context, except
 * host_watch_knows. */
#ifndef CSAN_DETECTOR_HOST_WATCH_H
#define CSAN_DETECTOR_HOST_WATCH_H

#include "csan/base/range_map.h"

#include <csan/csan.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct order;

struct host_watch {
    /* An op of the device took its turn, and certainly touches memory of the host or managed
     * memory. `bytes` may include bytes between the rows that are touched. */
    void (*touched)(void *user, uint64_t epoch, struct range bytes, bool writes);
    /* The host may have learned something. */
    void (*learned)(void *user, const struct order *order);
    /* An allocation is about to end. */
    void (*freed)(void *user, struct range bytes);
    void *user;
};

/* Whether all of the host's threads are ordered after the op. Within `learned`. */
bool host_watch_knows(const struct order *order, uint64_t epoch);

/* Call it before the first op; `watch` lives as long as the context. NULL: no callbacks. */
void context_watch_host(csan_context *context, const struct host_watch *watch);

#endif
