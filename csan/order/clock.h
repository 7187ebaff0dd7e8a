/* Vector clocks, copied on write.
 *
 * A clock says, for each lane, which epochs are known to have finished, by the newest one. Clocks
 * are shared by reference count: a snapshot of a lane is the lane's clock (shared) plus its own
 * epoch. So taking one costs no copy. The lane's next join copies the clock if it is still shared.
 * Clocks only grow.
 *
 * Epochs are those of FastTrack (Flanagan, Freund, PLDI 2009). ThreadSanitizer's runtime shares
 * clocks between a thread and what it released in the same way. Not thread-safe: the context's lock
 * covers every user. */
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

/* The functions below make copies in *spare, a clock without a holder (or NULL), if it is large
 * enough. A lane that learns takes a clock about as often as an event gives one up. */
void clock_release_slow(struct clock *clock, struct clock **spare);
static inline void clock_release_to(struct clock *clock, struct clock **spare)
{
    if (clock && --clock->references == 0)
        clock_release_slow(clock, spare);
}

/* Makes *clock the caller's alone, with room for at least `lanes`. False when memory is short. */
bool clock_own(struct clock **clock, uint32_t lanes, struct clock **spare);

/* clock becomes the maximum of itself and `other`. False when memory is short (nothing changed). */
bool clock_join(struct clock **clock, const struct clock *other, struct clock **spare);

/* The same if `other` knows everything that *clock knows. Then it is a copy. */
bool clock_follow(struct clock **clock, const struct clock *other, struct clock **spare);

/* *clock learns one epoch. */
bool clock_learn(struct clock **clock, epoch_t epoch, struct clock **spare);

#endif
