/* Happens-before: the lanes of a program and what each of them knows of the others.
 *
 * Order is created by joins alone. A lane's epoch advances with each op and with each join that
 * taught it something, so one (lane, sequence) pair always stands for one clock: a lane that knows
 * the epoch of a snapshot knows all of the snapshot, and joining it again is a single comparison.
 *
 * Lane 0 is the host. Every op joins the host first (what the host had seen finish before the call
 * is ordered before the op), so whatever the host knows, every later op knows and may be forgotten,
 * unless earlier ones are still held back: a lane that was destroyed is used again once the host
 * knows all of it that anybody can hold an epoch of, and its sequence numbers go on.
 *
 * Host threads may be lanes of their own. Then lane 0 is what all of them know: the minimum of
 * their clocks, brought up to date as they learn, and so is what may be forgotten.
 *
 * Not thread-safe: the context's lock covers every user. */
#ifndef CSAN_ORDER_ORDER_H
#define CSAN_ORDER_ORDER_H

#include "csan/order/clock.h"

#include <string.h>
#include <csan/csan.h>

enum { ORDER_HOST = 0, ORDER_NO_LANE = 0xffffffffu };

struct lane {
    uint64_t sequence;   /* of the newest op or join */
    uint64_t born;       /* taken again: the first of its life; older ones were another's */
    uint64_t observed;   /* newest sequence number an access or anyone's clock may hold */
    struct clock *clock; /* what it knows of other lanes; its own entry is not kept */
    uint64_t handle;
    char *label;
    uint8_t kind;      /* enum csan_lane_kind */
    uint32_t letter;   /* of a stream, from 1 in the order in which they were described; 0: none */
    csan_site created; /* where the program made it; 0: not known */
    char *name;        /* the program's own, or whose it is; or NULL */
    bool host;         /* lane 0, a host thread, or what host threads synchronize by */
    bool thread;       /* a host thread */
    bool live;         /* created and not destroyed */
    bool ended;        /* destroyed, not yet taken for another */
    uint8_t role;      /* enum csan_lane_role, in each of its lives */
    uint32_t blocked_pass; /* the queue's flag: held back in this pass */
};

/* A lane as of some moment. */
struct snapshot {
    struct clock *clock; /* NULL: knows nothing */
    epoch_t epoch;       /* the lane's own; 0: none (a merged snapshot) */
};

struct order {
    struct lane *lanes;
    uint32_t count, capacity;
    uint32_t live_count, ended_count;
    uint32_t letters;      /* given to streams so far */
    uint32_t thread_count; /* lanes of host threads that live */
    uint32_t thread_joins; /* joins that added to one of their clocks, not yet in lane 0 */
    bool held_back;        /* ops wait in the queue that know less than the host does by now */
    struct clock *spare;   /* see clock.h */
};

bool order_init(struct order *order);
void order_clear(struct order *order);

/* A new lane, ordered after all the host knows; ORDER_NO_LANE when memory is short. */
uint32_t order_lane_create(struct order *order, uint64_t handle, const char *label);
/* The same ordered after all that `maker` knows and did; while something waits in the queue, after
 * what the host knows only: let the lane join the maker in its turn. */
uint32_t order_lane_create_as(struct order *order, enum csan_lane_role role, uint64_t handle,
                              const char *label, uint32_t maker);
/* The lane is a host thread's, or (`thread` false) what host threads synchronize by: waiting for
 * the whole device does not wait for it. */
void order_lane_is_host(struct order *order, uint32_t lane, bool thread);
/* For reports: see csan_lane_describe, csan_lane_name and csan_lane_part_of. */
void order_lane_describe(struct order *order, uint32_t lane, uint8_t kind, csan_site created);
void order_lane_name(struct order *order, uint32_t lane, const char *name);
void order_lane_part_of(struct order *order, uint32_t lane, uint32_t whole);
void order_lane_destroy(struct order *order, uint32_t lane);

/* Was it of an earlier life of its lane, that is, of another stream with the same number? */
static inline bool order_is_former(const struct order *order, epoch_t epoch)
{
    return epoch_sequence(epoch) < order->lanes[epoch_lane(epoch)].born;
}

/* Is `epoch` known to `lane`? Its own past always is. */
static inline bool order_knows(const struct order *order, uint32_t lane, epoch_t epoch)
{
    return epoch_lane(epoch) == lane || clock_knows(order->lanes[lane].clock, epoch);
}

/* Does every op that is still to come know it? */
static inline bool order_is_over(const struct order *order, epoch_t epoch)
{
    return !order->held_back && order_knows(order, ORDER_HOST, epoch);
}

/* What a lane knows, for one who asks often: good until the lane's next join. */
struct knowledge {
    const struct clock *clock;
    uint32_t lane;
};

static inline struct knowledge order_knowledge(const struct order *order, uint32_t lane)
{
    return (struct knowledge){order->lanes[lane].clock, lane};
}
static inline bool knowledge_has(struct knowledge knowledge, epoch_t epoch)
{
    return (epoch_lane(epoch) == knowledge.lane) | clock_knows(knowledge.clock, epoch);
}

static inline struct snapshot order_snapshot(struct order *order, uint32_t lane)
{
    struct lane *self = &order->lanes[lane];
    self->observed = self->sequence;
    return (struct snapshot){clock_share(self->clock), epoch_make(lane, self->sequence)};
}
/* The snapshot that an event held is replaced. */
static inline void order_forget(struct order *order, const struct snapshot *snapshot)
{
    clock_release_to(snapshot->clock, &order->spare);
}
/* Every lane but the host's threads, and what those lanes know. */
struct snapshot order_snapshot_all(struct order *order);
static inline struct snapshot snapshot_share(struct snapshot snapshot)
{
    if (snapshot.clock)
        clock_share(snapshot.clock);
    return snapshot;
}
static inline void snapshot_release(struct snapshot *snapshot)
{
    clock_release(snapshot->clock);
    *snapshot = (struct snapshot){0};
}
static inline bool snapshot_knows(const struct snapshot *snapshot, epoch_t epoch)
{
    if (snapshot->epoch && epoch_lane(epoch) == epoch_lane(snapshot->epoch))
        return epoch_sequence(epoch) <= epoch_sequence(snapshot->epoch);
    return snapshot->clock && clock_knows(snapshot->clock, epoch);
}

/* The slow half of order_join: the lane learns something. */
void order_join_slow(struct order *order, uint32_t lane, const struct snapshot *snapshot);

/* What `lane` does from now on is ordered after the snapshot. */
static inline void order_join(struct order *order, uint32_t lane, const struct snapshot *snapshot)
{
    if (snapshot->epoch ? !order_knows(order, lane, snapshot->epoch) : snapshot->clock != NULL)
        order_join_slow(order, lane, snapshot);
}
/* ... after all that `other` has done so far. */
static inline void order_join_lane(struct order *order, uint32_t lane, uint32_t other)
{
    struct lane *them = &order->lanes[other];
    them->observed = them->sequence;
    struct snapshot snapshot = {them->clock, epoch_make(other, them->sequence)};
    order_join(order, lane, &snapshot);
}

/* Lanes that the program knows as one stream. */
static inline bool order_same_stream(const struct order *order, uint32_t a, uint32_t b)
{
    const struct lane *one = &order->lanes[a], *other = &order->lanes[b];
    if (one->host || other->host || one->handle != other->handle || one->letter != other->letter)
        return false;
    /* the per-thread default streams of two threads have one handle */
    return one->name == other->name ||
           (one->name && other->name && strcmp(one->name, other->name) == 0);
}

/* The lane's next epoch, the host being joined as of an earlier moment. */
static inline epoch_t order_advance_alone(struct order *order, uint32_t lane)
{
    struct lane *self = &order->lanes[lane];
    self->observed = ++self->sequence;
    return epoch_make(lane, self->sequence);
}
/* Do the lane's ops join the host? The host itself need not, and what calls do must not. */
static inline bool order_joins_host(const struct order *order, uint32_t lane)
{
    return lane != ORDER_HOST && order->lanes[lane].role != CSAN_LANE_CALL;
}
/* ... after joining the host: the epoch of an op. */
static inline epoch_t order_advance(struct order *order, uint32_t lane)
{
    if (order_joins_host(order, lane))
        order_join_lane(order, lane, ORDER_HOST);
    return order_advance_alone(order, lane);
}

#endif
