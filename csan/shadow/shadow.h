/* The shadow of a stretch of memory: who touched which bytes last, and what a new access races
 * with.
 *
 *   cells     disjoint byte intervals, each with the history of the accesses that cover it
 *   strided   records of accesses that are no interval (LMADs), beside the cells
 *
 * Accesses that the host knows to have finished race with nothing any more. A sweep removes them
 * when the shadow has doubled.
 *
 * Not thread-safe: the context's lock covers every user. */
#ifndef CSAN_SHADOW_SHADOW_H
#define CSAN_SHADOW_SHADOW_H

#include "csan/shadow/access_history.h"
#include "csan/base/range_map.h"
#include "csan/shadow/strided.h"

struct shadow_cell {
    struct range range;
    struct access_history history;
};

struct shadow {
    struct range_map cells; /* of struct shadow_cell */
    struct strided strided;
    size_t sweep_at; /* cells at which the next sweep is due */
    /* the last op with a strided access that asked, and whether its lane knew the histories of all
     * cells */
    uint64_t asked_op;
    bool asked_known;
};

void shadow_init(struct shadow *shadow);
void shadow_clear(struct shadow *shadow);

/* Check the access and remember it. */
void shadow_touch(struct shadow *shadow, const struct shadow_access *access);

/* The history of exactly [start, end), if the cells alone decide about an access to it. */
static inline struct access_history *shadow_history(const struct shadow *shadow, uint64_t start,
                                                    uint64_t end)
{
    struct shadow_cell *cell = range_map_find(&shadow->cells, start);
    bool alone =
        cell && cell->range.start == start && cell->range.end == end && !shadow->strided.count;
    return alone ? &cell->history : NULL;
}

/* Only checks. For a free (access->self.kind is CSAN_FREE), of which nothing is remembered. */
void shadow_check(struct shadow *shadow, const struct shadow_access *access);

/* Moves what `from` remembers of [start, end) to `to`; `keep` chooses the past accesses. */
void shadow_move(struct shadow *to, struct shadow *from, uint64_t start, uint64_t end,
                 bool (*keep)(void *user, const struct past_access *past), void *user);

/* Forgets what the host knows to have finished. True: nothing is left. */
bool shadow_sweep(struct shadow *shadow, const struct order *order);

/* The live totals, for the statistics. */
static inline size_t shadow_cell_count(const struct shadow *shadow)
{
    return shadow->cells.count;
}
static inline size_t shadow_record_count(const struct shadow *shadow)
{
    return strided_count(&shadow->strided);
}

#endif
