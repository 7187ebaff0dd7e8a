/* Happens-before: the lanes of a program, and what each lane knows of the others.
 *
 * Only joins make order. A lane's epoch advances with each op, and with each join that taught it
 * something. So one pair (lane, sequence number) always stands for one clock. A lane that knows the
 * epoch of a snapshot knows all of the snapshot, and to join it again costs a single comparison.
 *
 * Lane 0 is the host. Every op first joins the host: what the host had seen finish before the call
 * is ordered before the op. So every later op knows what the host knows, and that may be forgotten,
 * unless earlier ops are still held back. A destroyed lane is used again once the host knows all
 * epochs of it that anybody can hold. Its sequence numbers go on.
 *
 * Host threads may be lanes of their own. Then lane 0 is what all of them know: the minimum of
 * their clocks, updated as they learn. The same minimum may be forgotten.
 *
 * Not thread-safe: the context's lock covers every user. */
#ifndef CSAN_ORDER_ORDER_H
#define CSAN_ORDER_ORDER_H

#include "csan/order/clock.h"

#include <string.h>
#include <csan/csan.h>

enum { ORDER_HOST = 0, ORDER_NO_LANE = 0xffffffffu };

struct lane {
    uint64_t sequence; /* of the newest op or join */
    uint64_t born;     /* first sequence number of this life of the lane; older ones belonged to an
                          earlier life */
    uint64_t observed; /* newest sequence number that an access or a clock may hold */
    struct clock *clock; /* what it knows of other lanes; its own entry is not kept */
    uint64_t handle;
    char *label;
    uint8_t kind;      /* enum csan_lane_kind */
    uint32_t letter;   /* of a stream, from 1 in the order in which they were described; 0: none */
    csan_site created; /* where the program made it; 0: not known */
    char *name;  /* the program's own name, or the name of the thread that it belongs to; or NULL */
    bool host;   /* lane 0, a host thread, or an object by which host threads synchronize */
    bool thread; /* a host thread */
    bool live;   /* created and not destroyed */
    bool ended;  /* destroyed, not yet taken for another */
    uint8_t role;          /* enum csan_lane_role; kept for each of its lives */
    uint32_t blocked_pass; /* the queue's flag: held back in this pass */
};

/* A lane as of some moment. */
struct snapshot {
    struct clock *clock; /* NULL: knows nothing */
    epoch_t epoch;       /* the lane's own; 0: none (a merged snapshot) */
};

struct order {
    struct lane *lanes;
    size_t capacity;
    uint32_t count;
    uint32_t live_count, ended_count;
    uint32_t letters;      /* given to streams so far */
    uint32_t thread_count; /* lanes of host threads that live */
    uint32_t thread_joins; /* joins that changed a host thread's clock, and are not yet in lane 0 */
    uint64_t host_joins;   /* all joins that changed the clock of a host lane */
    uint32_t pool;         /* the lane that stands for what a memory pool saw; 0: there is none */
    bool has_requests;     /* there ever was a request (CSAN_LANE_REQUEST) */
    bool held_back;        /* waiting ops know less than the host knows by now */
    struct clock *spare;   /* see clock.h */
};

bool order_init(struct order *order);
void order_clear(struct order *order);

/* A new lane, ordered after all the host knows; ORDER_NO_LANE when memory is short. */
uint32_t order_lane_create(struct order *order, uint64_t handle, const char *label);
/* The same, but ordered after all that `maker` knows and did. While entries wait in the queue, the
 * new lane is ordered only after what the host knows: then let it join the maker in its turn. */
uint32_t order_lane_create_as(struct order *order, enum csan_lane_role role, uint64_t handle,
                              const char *label, uint32_t maker);
/* The lane is a host thread's, or (`thread` false) an object by which host threads synchronize. A
 * wait for the whole device does not wait for it. */
void order_lane_is_host(struct order *order, uint32_t lane, bool thread);
/* For reports; see csan_lane_describe, csan_lane_name and csan_lane_part_of. */
void order_lane_describe(struct order *order, uint32_t lane, uint8_t kind, csan_site created);
void order_lane_name(struct order *order, uint32_t lane, const char *name);
void order_lane_part_of(struct order *order, uint32_t lane, uint32_t whole);
void order_lane_destroy(struct order *order, uint32_t lane);

/* Whether it belonged to an earlier life of its lane, that is, to another stream with the same
 * number. */
static inline bool order_is_former(const struct order *order, epoch_t epoch)
{
    return epoch_sequence(epoch) < order->lanes[epoch_lane(epoch)].born;
}

/* Whether `lane` knows `epoch`. A lane always knows its own past. */
static inline bool order_knows(const struct order *order, uint32_t lane, epoch_t epoch)
{
    return epoch_lane(epoch) == lane || clock_knows(order->lanes[lane].clock, epoch);
}

/* Whether every op that is still to come knows it. */
static inline bool order_is_over(const struct order *order, epoch_t epoch)
{
    return !order->held_back && order_knows(order, ORDER_HOST, epoch);
}

/* What a lane knows, for a caller that asks often. Valid until the lane's next join. */
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
/* An event replaces the snapshot that it held. */
static inline void order_forget(struct order *order, const struct snapshot *snapshot)
{
    clock_release_to(snapshot->clock, &order->spare);
}
/* Every lane but the host's threads and requests, and what those lanes know: what is behind a wait
 * for the whole device. */
struct snapshot order_snapshot_all(struct order *order);
/* The same and what `lane` knows of requests, where that is not lane 0. */
struct snapshot order_snapshot_all_for(struct order *order, uint32_t lane);
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

/* The slow part of order_join: the lane learns something. */
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

/* Lanes that are one stream for the program. */
static inline bool order_same_stream(const struct order *order, uint32_t a, uint32_t b)
{
    const struct lane *one = &order->lanes[a], *other = &order->lanes[b];
    if (one->host || other->host || one->handle != other->handle || one->letter != other->letter)
        return false;
    /* the per-thread default streams of two threads have one handle */
    return one->name == other->name ||
           (one->name && other->name && strcmp(one->name, other->name) == 0);
}

/* The lane's next epoch. The host is joined as of an earlier moment. */
static inline epoch_t order_advance_alone(struct order *order, uint32_t lane)
{
    struct lane *self = &order->lanes[lane];
    self->observed = ++self->sequence;
    return epoch_make(lane, self->sequence);
}
/* Whether the lane's ops join the host. The host itself need not, and the lanes of calls must not.
 */
static inline bool order_joins_host(const struct order *order, uint32_t lane)
{
    return lane != ORDER_HOST && order->lanes[lane].role != CSAN_LANE_CALL;
}
/* The epoch of an op, after the lane joined the host. */
static inline epoch_t order_advance(struct order *order, uint32_t lane)
{
    if (order_joins_host(order, lane))
        order_join_lane(order, lane, ORDER_HOST);
    return order_advance_alone(order, lane);
}

#endif
