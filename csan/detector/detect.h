/* The detector: takes entries in their order, keeps happens-before, shadow memory and allocations,
 * and finds races. Whatever comes here has been translated from CUDA into lanes, joins and access
 * sets. Not thread-safe: the context's lock covers every user. */
#ifndef CSAN_DETECTOR_DETECT_H
#define CSAN_DETECTOR_DETECT_H

#include "csan/detector/ad_hoc.h"
#include "csan/shadow/initialized.h"
#include "csan/shadow/memory.h"
#include "csan/detector/queue.h"
#include "csan/detector/race.h"
#include "csan/detector/range_history.h"
#include "csan/detector/same_operator.h"
#include "csan/detector/steps.h"
#include "csan/detector/unordered.h"

/* So many calls whose wait is observed and not promised are named; further ones are not. */
enum { UNPROMISED_MAX = 32 };

/* So many a single op may have; further ones are left out. */
enum { DETECTOR_ERRORS = 8 };

/* The name of csan_snapshot_seen_by_pool in reports. */
extern const char detector_pool_query[];

/* The name of an access of the host's that shows only in the content of memory. */
extern const char detector_host_change[];

/* How the name of such a call ends if the wait is promised, but option implicit_sync left it out.
 */
#define DETECTOR_DOCUMENTED " (documented)"

struct detector {
    struct detector *parent; /* of a branch: where allocations are looked up and races are kept */
    struct order order;
    struct memory memory;
    struct race_log races;
    struct conflict_list conflicts; /* of the op being processed */
    struct site_table *sites;
    struct stack_depot *stacks;
    uint32_t strided_cap;
    uint64_t wall;  /* nanoseconds since 1970, as a recording has it; 0: the clock's */
    bool framework; /* see struct csan_race; a branch has its parent's */
    /* The host as if a call's waits were promised: one lane for each such call. */
    struct {
        const char *what;
        uint32_t lane;
        bool pool; /* it is a pool of memory that goes by them */
    } unpromised[UNPROMISED_MAX];
    uint32_t unpromised_count;
    struct same_operator same_operator; /* of ops to come */
    struct ad_hoc ad_hoc;               /* what kernels order through memory */
    struct steps steps;
    struct unordered unordered;  /* of a branch: added to its parent's at the end */
    struct range_history ranges; /* of all ops; a branch has its parent's */
    struct csan_stats stats;     /* what is counted as it happens */
    bool errors_wanted;          /* option errors */
    uint64_t unplaced;           /* kernels' exact accesses in no allocation so far; atomic */
    bool out_of_turn; /* ops that came before the processed one still wait in the queue */
    struct initialized initialized;
    /* Of the op that is being processed: the data of its conflicts that are no races. */
    struct csan_error errors[DETECTOR_ERRORS];
    uint32_t error_count;
    const struct host_watch *watch; /* or NULL */
    uint64_t watched;               /* what the host had learned when the watch last heard of it */
    bool watch_lost, watch_due;     /* its callbacks `lost` and `report` are due */
    bool from_queue;                /* the entry that is processed waited in the queue */
};

/* Only if there is a watch. Notifies it of what is due under the lock. */
void detector_watch_host(struct detector *detector);

/* The host changed these bytes, which the op at `earlier` reads, before it was ordered after that
 * op; `now` stands for the host. */
void detector_host_changed(struct detector *detector, const struct past_access *now,
                           const struct past_access *earlier, struct range bytes);

bool detector_init(struct detector *detector);
void detector_clear(struct detector *detector);

/* What a program does at every step, for a caller that has no entry to queue. Has the effect of
 * processing ENTRY_OP, ENTRY_RECORD and ENTRY_WAIT. */
struct op {
    uint32_t lane, site;
    enum csan_level level;
    uint64_t number;
    const struct csan_access *accesses;
    size_t access_count;
};
void detector_op(struct detector *detector, const struct op *op);
/* Only if there is a watch. Notifies it of what the op touches of the host's memory. */
void detector_watch_op(struct detector *detector, const struct op *op, epoch_t epoch);
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

/* Adds a finding that is no race. It is about `current` (site, lane, number, kind of access), with
 * bytes [address, address + bytes) if `bytes` is not 0. `error` is copied; where the address lies
 * is found out here. */
void detector_find(struct detector *detector, enum csan_race_kind kind,
                   const struct past_access *current, uint64_t address, uint64_t bytes,
                   const struct csan_error *error);

/* Processes an ENTRY_STEP. Fills in the lane's epoch. */
static inline void detector_step(struct detector *detector, struct step *step)
{
    if (step_is_for_recordings(step))
        return;
    step->epoch = epoch_make(step->lane, detector->order.lanes[step->lane].sequence);
    steps_add(&detector->steps, step);
}

/* Processes one entry. The entry owns the handles that it destroys or fills. */
void detector_process(struct detector *detector, struct entry *entry);
/* Skips an entry. Handles that it ends are freed, and ops are counted. */
void detector_pass_by(struct detector *detector, struct entry *entry);

#endif
