/* Callbacks for a watch of the host's memory. They report what ops touch there, each time that the
 * host is ordered after more ops, and each end of memory. The context calls them under its lock, on
 * the thread that entered it; `report` is called without the lock. They must not call the context,
 * except host_watch_knows and host_watch_anyone_knows. */
#ifndef CSAN_DETECTOR_HOST_WATCH_H
#define CSAN_DETECTOR_HOST_WATCH_H

#include "csan/base/range_map.h"

#include <csan/csan.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct lmad;
struct order;

/* Who made the op: a stream, a function that a stream runs, a call before it returned, or the host.
 */
enum host_touch_by {
    HOST_TOUCH_STREAM = CSAN_LANE_STREAM,
    HOST_TOUCH_FUNCTION = CSAN_LANE_FUNCTION,
    HOST_TOUCH_CALL = CSAN_LANE_CALL,
    HOST_TOUCH_HOST
};

/* An access of an op. */
struct host_touch {
    uint64_t epoch, number; /* the op's */
    csan_site site;
    enum csan_level level;
    uint16_t argument;
    enum host_touch_by by;
    bool request;                 /* by a library's request, which works on the host */
    enum csan_memory_kind memory; /* HOST or MANAGED, if the access is exact and not pageable */
    bool pageable;                /* csan knows no allocation there */
    bool writes;
    bool atomic;             /* a write, too */
    bool exact;              /* it touches all of `lmad`, for certain */
    bool late;               /* the op waited in the queue: the program has gone on since */
    const struct lmad *lmad; /* if the access is exact */
    struct range bytes;      /* from its first byte to its last; all addresses: nobody knows */
};

struct host_watch {
    /* An op took its turn. True: `report` is due. */
    bool (*touched)(void *user, const struct host_touch *touch);
    /* The host may have learned something. True: likewise. */
    bool (*learned)(void *user, const struct order *order);
    /* An allocation is about to end, or has ended unseen. */
    void (*freed)(void *user, struct range bytes);
    /* The context lost track of the host: what the host learns waits in the queue, or work that
     * csan did not see may have written. May be NULL. */
    void (*lost)(void *user);
    /* Called soon after it is due, without the lock. It may call the context. May be NULL. */
    void (*report)(void *user);
    void *user;
};

/* Whether all of the host's threads are ordered after the op. Within `learned`. */
bool host_watch_knows(const struct order *order, uint64_t epoch);
/* Whether any of them is, or a memory pool that gives memory out again by what it saw. */
bool host_watch_anyone_knows(const struct order *order, uint64_t epoch);

/* Call it before the first op; `watch` lives as long as the context. NULL: no callbacks. */
void context_watch_host(csan_context *context, const struct host_watch *watch);

#endif
