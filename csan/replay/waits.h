/* The waits of a recorded program, by the place that makes them, and which of them ordered nothing:
 * what they waited for was ordered before them already. Nothing is run or checked again.
 *
 * A wait orders nothing only if that holds however the program's threads and its GPU take turns.
 * So knowledge counts that no luck is part of:
 *   - A thread knows what it waited for itself, by a synchronization or by a copy or set that
 *     waits by CUDA's documentation. What a query answered, what a free was seen to wait for, and
 *     what other threads know does not count.
 *   - A stream knows what it was made to wait for, if one thread alone does that, and what the
 *     default streams order.
 * A wait that covers the record of an event orders something, even with no work before it: the
 * program may ask for the event's time.
 *
 * A place is listed with how many of its waits ordered nothing. If all did, leaving all of them
 * out changes no order; see waits_can_go. Not thread-safe. */
#ifndef CSAN_REPLAY_WAITS_H
#define CSAN_REPLAY_WAITS_H

#include "csan/recording/recording_read.h"

#include <stdbool.h>

enum wait_kind {
    WAIT_KIND_STREAM_EVENT, /* a stream waits for an event */
    WAIT_KIND_EVENT,        /* the host, for an event, */
    WAIT_KIND_STREAM,       /* a stream */
    WAIT_KIND_DEVICE,       /* or a device */
    WAIT_KIND_COPY,         /* a copy or set that waits; never advice */
    WAIT_KINDS
};

/* Why a wait ordered nothing. */
enum wait_reason {
    WAIT_REASON_NONE,
    WAIT_REASON_WAITED,      /* the thread or the stream had waited for it: `by` */
    WAIT_REASON_STREAMS,     /* the order that default streams make */
    WAIT_REASON_SAME_STREAM, /* the event was recorded in the stream that waits */
    WAIT_REASON_NO_WORK,     /* nothing was enqueued there */
    WAIT_REASON_UNRECORDED   /* the event was not recorded yet */
};

/* The waits of a site. */
struct wait_site {
    uint64_t site; /* the recording's number of it */
    enum wait_kind kind;
    uint64_t calls, nothing; /* how many there were, and ordered nothing */
    enum wait_reason reason; /* of the newest that ordered nothing */
    uint64_t by;             /* the site of the wait that had ordered it; 0: not known */
};

struct waits;

/* NULL: memory is short. */
struct waits *waits_create(void);
void waits_destroy(struct waits *waits);
/* Each entry of the recording, in order. False: memory is short, or an entry is impossible. */
bool waits_take(struct waits *waits, const struct recorded *recorded);
/* All places, in the order in which they came first; valid until the next entry. */
const struct wait_site *waits_sites(const struct waits *waits, size_t *count);

/* Whether an explicit wait of the place never ordered anything. A wait for an event that was not
 * recorded may be there for its next record: that is a mistake, not a needless wait. */
static inline bool waits_can_go(const struct wait_site *site)
{
    return site->kind != WAIT_KIND_COPY && site->calls && site->nothing == site->calls &&
           site->reason != WAIT_REASON_UNRECORDED;
}

#endif
