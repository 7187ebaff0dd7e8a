/* What a context consists of, and how entries come in. For context*.c. */
#ifndef CSAN_DETECTOR_CONTEXT_STATE_H
#define CSAN_DETECTOR_CONTEXT_STATE_H

#include "csan/detector/context.h"
#include "csan/detector/detect.h"
#include "csan/base/lock.h"
#include "csan/detector/named_range.h"
#include "csan/detector/queue.h"
#include "csan/recording/recording_write.h"
#include "csan/detector/canonicalize.h"

#include <pthread.h>

struct csan_context {
    struct lock *lock; /* the parent's, or its own */
    struct lock own_lock;
    csan_context *parent; /* of a branch, else NULL */
    csan_context *root;   /* the parent, or itself */
    struct detector detector;
    struct queue queue;
    struct live_memory live;
    struct canonicalizations
        canonicalizations;       /* of the program's accesses; a branch has its parent's */
    struct recording *recording; /* or NULL */
    uint32_t recorded_as;        /* in the recording: 0, or a branch's number */
    bool unchecked;              /* what enters is recorded, and that is all */
    bool attended;               /* it is recorded, or the host is watched: see context_attend */
    uint64_t next_number;
    uint64_t generation; /* number of the newest op that is no host's; read without the lock */
    void (*observer)(void *user, uint64_t sequence, csan_lane lane, csan_site site,
                     int before); /* or NULL */
    void *observer_user;
    pthread_mutex_t delivery; /* one callback at a time; never taken inside the lock */
    void (*on_race)(void *user, const struct csan_race *race);
    void *user;
    bool (*suppresses)(void *user, const struct csan_race *race); /* or NULL */
    void *suppresses_user;
};

/* After a change of who attends: most contexts have nobody, and look at one word for it. */
static inline void context_attend(csan_context *context)
{
    context->attended = context->recording || context->detector.watch;
}

/* Gives the lock back, and writes the due part of the recording. */
static inline void context_give(csan_context *context)
{
    if (__builtin_expect(context->recording != NULL, 0))
        recording_leave(context->recording);
    else
        lock_give(context->lock);
}

/* The same for who does not ask for news. */
static inline void context_leave(csan_context *context)
{
    if (__builtin_expect(context->detector.watch != NULL, 0))
        detector_watch_host(&context->detector);
    context_give(context);
}

static inline bool context_has_news(csan_context *context)
{
    const struct detector *detector = &context->root->detector;
    if (__builtin_expect(context->detector.watch != NULL, 0)) {
        detector_watch_host(&context->detector);
        if (detector->watch_due)
            return true;
    }
    return detector->races.delivered < detector->races.count;
}

/* With the lock: the op of that number belongs to the calling thread, in the named ranges that it
 * has open. */
void context_note_ranges(csan_context *context, uint64_t number);

/* Whether the calling thread may have named ranges open. */
static inline bool context_may_have_ranges(void)
{
    return __builtin_expect(__atomic_load_n(&named_range_any, __ATOMIC_RELAXED), 0);
}

/* Call it before the lock is taken for an op. It makes the text of the thread's open ranges, so
 * that none must be made under the lock. Returns whether there may be any. */
static inline bool context_ready_ranges(void)
{
    const bool ranges = context_may_have_ranges();
    if (ranges)
        named_range_now();
    return ranges;
}

/* `ranges`: what context_ready_ranges said. */
static inline uint64_t context_take_number(csan_context *context, bool ranges)
{
    const uint64_t number = ++context->root->next_number;
    if (__builtin_expect(ranges, 0))
        context_note_ranges(context, number);
    return number;
}

static inline uint64_t context_next_number(csan_context *context, bool ranges)
{
    const uint64_t number = context_take_number(context, ranges);
    __atomic_store_n(&context->root->generation, number, __ATOMIC_RELAXED);
    return number;
}

/* Of an op of that lane. */
static inline uint64_t context_next_op(csan_context *context, csan_lane lane, bool ranges)
{
    const uint64_t number = context_take_number(context, ranges);
    if (!context->detector.order.lanes[lane].host)
        __atomic_store_n(&context->root->generation, number, __ATOMIC_RELAXED);
    return number;
}

static inline bool context_has_lane(const csan_context *context, csan_lane lane)
{
    return lane < context->detector.order.count;
}

/* False: a lane of the entry could not be created (CSAN_NO_LANE). The caller may go on using such a
 * lane, and nothing happens. */
static inline bool context_has_lanes(const csan_context *context, const struct entry *entry)
{
    uint32_t count = context->detector.order.count;
    return entry->lane < count && entry->other < count;
}

static inline void context_observe(const csan_context *context, const struct entry *entry,
                                   int before)
{
    if (context->observer)
        context->observer(context->observer_user, entry->number, entry->lane, entry->site, before);
}

/* Writes it to the recording. Returns the ticket that the entry would have if its access set came
 * later. */
static inline uint64_t context_record_entry(csan_context *context, const struct entry *entry)
{
    uint64_t ticket = context->queue.last_ticket + 1;
    bool timed = context->queue.entries || entry->kind == ENTRY_OP || entry->kind == ENTRY_JOIN;
    context->queue.now =
        recording_entry(context->recording, context->recorded_as, entry, ticket, timed);
    context->detector.wall = context->queue.now + recording_wall_offset(context->recording);
    return ticket;
}

/* Processes or queues the entry. Returns the ticket of an op whose access set comes later. */
static inline uint64_t context_enter(csan_context *context, struct entry *entry)
{
    if (__builtin_expect(context->recording != NULL, 0)) {
        uint64_t ticket = context_record_entry(context, entry);
        if (context->unchecked) {
            context->queue.last_ticket += entry->pending;
            detector_pass_by(&context->detector, entry);
            return entry->pending ? ticket : 0;
        }
    }
    return queue_submit(&context->queue, &context->detector, entry);
}

/* With the lock: the canonicalization, for a change. Pending ops have been enqueued already. */
struct canonicalization *context_canonicalization_changes(csan_context *context);
/* Enters the entry with the lock held, and gives the lock back. Returns as context_enter. */
uint64_t context_submit_locked(csan_context *context, struct entry *entry);
/* Reports the races that have not been reported. Without the lock. */
void context_deliver(csan_context *context);

#endif
