/* Vector clocks, copied on write.
 *
 * A clock says, for each lane, the newest epoch known to have finished before whoever holds it. It
 * is shared by reference count: a snapshot of a lane is its clock (shared) plus its own epoch, so
 * taking one costs no copy; the lane's next join copies if the clock is still shared. Clocks only
 * grow.
 *
 * FastTrack (Flanagan, Freund, PLDI 2009) gives the epochs; sharing clocks between a thread and
 * what it released is after TSan's runtime. Not thread-safe: the context's lock covers every user.
 */
#ifndef CSAN_ORDER_CLOCK_H
#define CSAN_ORDER_CLOCK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* An epoch packs a lane and its sequence number; 2^20 lanes, 2^44 ops on each. */
typedef uint64_t epoch_t;
enum { EPOCH_LANE_BITS = 20, EPOCH_LANES = 1 << EPOCH_LANE_BITS };

static inline epoch_t epoch_make(uint32_t lane, uint64_t sequence)
{
    return sequence << EPOCH_LANE_BITS | lane;
}
static inline uint32_t epoch_lane(epoch_t epoch)
{
    return epoch & (EPOCH_LANES - 1);
}
static inline uint64_t epoch_sequence(epoch_t epoch)
{
    return epoch >> EPOCH_LANE_BITS;
}

struct clock {
    uint32_t references;
    uint32_t lanes;   /* capacity of known: lanes beyond it are known up to 0 */
    uint64_t known[]; /* newest sequence number known to have finished, by lane */
};

struct clock *clock_create(uint32_t lanes); /* all zero, one reference; NULL when memory is short */
void clock_release(struct clock *clock);    /* NULL is fine */

static inline struct clock *clock_share(struct clock *clock)
{
    clock->references++;
    return clock;
}

static inline uint64_t clock_known(const struct clock *clock, uint32_t lane)
{
    return lane < clock->lanes ? clock->known[lane] : 0;
}

static inline bool clock_knows(const struct clock *clock, epoch_t epoch)
{
    return clock_known(clock, epoch_lane(epoch)) >= epoch_sequence(epoch);
}

/* Below, a copy is made in *spare, a clock that nobody holds (or NULL), if it has the room: a lane
 * that learns takes a clock about as often as an event gives one up. */
void clock_release_slow(struct clock *clock, struct clock **spare);
static inline void clock_release_to(struct clock *clock, struct clock **spare)
{
    if (clock && --clock->references == 0)
        clock_release_slow(clock, spare);
}

/* Make *clock the holder's alone and at least `lanes` wide. False when memory is short. */
bool clock_own(struct clock **clock, uint32_t lanes, struct clock **spare);

/* *clock takes the maximum of itself and `other`. False when memory is short (nothing changed). */
bool clock_join(struct clock **clock, const struct clock *other, struct clock **spare);

/* The same where `other` knows all that *clock does: a copy. */
bool clock_follow(struct clock **clock, const struct clock *other, struct clock **spare);

/* *clock learns one epoch. */
bool clock_learn(struct clock **clock, epoch_t epoch, struct clock **spare);

#endif
