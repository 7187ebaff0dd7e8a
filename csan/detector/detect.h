/* The detector: takes entries in their order, keeps happens-before, shadow memory and allocations,
 * and finds races. Everything CUDA was translated into lanes, joins and access sets before it comes
 * here. Not thread-safe: the context's lock covers every user. */
#ifndef CSAN_DETECTOR_DETECT_H
#define CSAN_DETECTOR_DETECT_H

#include "csan/shadow/initialized.h"
#include "csan/shadow/memory.h"
#include "csan/detector/queue.h"
#include "csan/detector/race.h"
#include "csan/detector/range_history.h"
#include "csan/detector/same_operator.h"
#include "csan/detector/steps.h"
#include "csan/detector/unordered.h"

/* Names of calls that order only because a driver was observed to wait; further ones are not named.
 */
enum { UNPROMISED_MAX = 32 };

/* That one op may have; one more is left out. */
enum { DETECTOR_ERRORS = 8 };

/* What csan_snapshot_seen_by_pool is called in reports. */
extern const char detector_pool_query[];

/* How such a call's name ends if the wait is promised, and option implicit_sync left it out. */
#define DETECTOR_DOCUMENTED " (documented)"

struct detector {
    struct detector *parent; /* of a branch: allocations are looked up and races kept there */
    struct order order;
    struct memory memory;
    struct race_log races;
    struct conflict_list conflicts; /* of the op being processed */
    struct site_table *sites;
    struct stack_depot *stacks;
    uint32_t strided_cap;
    uint64_t wall;  /* nanoseconds since 1970, as a recording has it; 0: the clock's */
    bool framework; /* see struct csan_race; a branch has its parent's */
    /* The host as it would be if a call's waits were promised: one lane for each such call. */
    struct {
        const char *what;
        uint32_t lane;
        bool pool; /* it is a pool of memory that goes by them */
    } unpromised[UNPROMISED_MAX];
    uint32_t unpromised_count;
    struct same_operator same_operator; /* of ops to come */
    struct steps steps;
    struct unordered unordered;  /* of a branch: added to its parent's at the end */
    struct range_history ranges; /* of all ops; a branch has its parent's */
    struct csan_stats stats;     /* what is counted as it happens */
    bool errors_wanted;          /* option errors */
    uint64_t unplaced;           /* kernels' exact accesses in no allocation so far; atomic */
    bool out_of_turn;            /* ops wait in the queue that came before the one processed */
    struct initialized initialized;
    /* Of the op being processed: what its conflicts that are no races point to. */
    struct csan_error errors[DETECTOR_ERRORS];
    uint32_t error_count;
    const struct host_watch *watch; /* or NULL */
    uint64_t watched;               /* the host's sequence number as the watch knows it */
};

/* Notifies the watch if the host learned something since. */
void detector_watch_host(struct detector *detector);

bool detector_init(struct detector *detector);
void detector_clear(struct detector *detector);

/* What a program does at every step, for a caller that has no entry to be queued: the same as
 * processing ENTRY_OP, ENTRY_RECORD and ENTRY_WAIT. */
struct op {
    uint32_t lane, site;
    enum csan_level level;
    uint64_t number;
    const struct csan_access *accesses;
    size_t access_count;
};
void detector_op(struct detector *detector, const struct op *op);
static inline void detector_record_snapshot(struct detector *detector, struct csan_event *event,
                                            struct snapshot value)
{
    order_forget(&detector->order, &event->value);
    event->value = value;
}
static inline void detector_record(struct detector *detector, struct csan_event *event,
                                   uint32_t lane)
{
    detector_record_snapshot(detector, event, order_snapshot(&detector->order, lane));
}
static inline void detector_wait(struct detector *detector, const struct csan_event *event,
                                 uint32_t lane)
{
    order_join(&detector->order, lane, &event->value);
}

/* Adds a finding that is no race: of what was done at `current` (site, lane, number, kind of
 * access), with bytes [address, address + bytes) if there are any. `error` is copied, but for where
 * the address lies, which is found out. */
void detector_find(struct detector *detector, enum csan_race_kind kind,
                   const struct past_access *current, uint64_t address, uint64_t bytes,
                   const struct csan_error *error);

/* The same as ENTRY_STEP. The lane's epoch is filled in. */
static inline void detector_step(struct detector *detector, struct step *step)
{
    step->epoch = epoch_make(step->lane, detector->order.lanes[step->lane].sequence);
    steps_add(&detector->steps, step);
}

/* Process one entry. Handles it destroys or fills are the entry's own. */
void detector_process(struct detector *detector, struct entry *entry);
/* An entry that is not to be looked at: what it ends is freed, ops are counted. */
void detector_pass_by(struct detector *detector, struct entry *entry);

#endif
