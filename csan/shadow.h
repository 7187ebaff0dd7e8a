/* The shadow of a stretch of memory: who touched which bytes last, and what a new access races
 * with.
 *
 *   cells    disjoint byte intervals; each keeps the last exact plain write, and beside it, per
 * lane, the newest reads, atomics and bounded writes that no later access made superfluous records
 * strided accesses (LMADs), overlapping each other and the cells
 *
 * What a new access lets the shadow forget: only what it covers, is ordered after, and only if it
 * is exact. A write forgets everything, a read only reads, an atomic only atomics. Whatever races
 * with the forgotten access also races with the one that stays. Beyond that, what the host knows to
 * have finished races with nothing any more and is swept when the shadow has doubled.
 *
 * Not thread-safe: the context's lock covers every user. */
#ifndef CSAN_SHADOW_H
#define CSAN_SHADOW_H

#include "lmad.h"
#include "order.h"
#include "range_map.h"

/* One access as the shadow remembers it. */
struct mark {
    epoch_t epoch;
    uint64_t op; /* number of the op, from 1 */
    uint32_t site;
    uint32_t generation; /* which owner of the memory it belonged to; see memory.h */
    uint16_t argument;
    uint8_t kind;          /* enum csan_access_kind; 0: no mark */
    uint8_t bound;         /* enum csan_bound */
    uint8_t element_bytes; /* of an atomic */
};

/* Marks of one kind on one cell: at most one exact and one bounded a lane, sorted by mark_key. */
struct mark_list {
    uint32_t count, capacity;
    struct mark marks[];
};

struct shadow_cell {
    struct range range;
    struct mark write; /* the last exact plain write */
    /* by kind: reads, bounded writes, atomics. NULL when empty */
    struct mark_list *others[CSAN_ATOMIC + 1];
};

struct shadow_record {
    struct lmad lmad;
    struct mark mark;
};

struct shadow {
    struct range_map cells; /* of struct shadow_cell */
    struct shadow_record *records;
    uint32_t record_count, record_capacity;
    size_t sweep_at; /* cells at which the next sweep is due */
};

/* What the access meets: called for each earlier mark it conflicts with and is not ordered after,
 * with one run of common bytes. `undecided`: whether the strided patterns meet was too costly to
 * decide. */
typedef void shadow_conflict(void *user, const struct mark *earlier, uint64_t start, uint64_t end,
                             bool undecided);

struct shadow_access {
    const struct lmad *lmad;
    struct mark mark;
    const struct order *order;
    uint32_t strided_cap;      /* records kept at most */
    uint64_t *strided_dropped; /* counts those lost to the cap */
    shadow_conflict *conflict;
    void *user;
};

void shadow_init(struct shadow *shadow);
void shadow_clear(struct shadow *shadow);

/* Check the access and remember it. */
void shadow_touch(struct shadow *shadow, const struct shadow_access *access);
/* Check only: a free (access->mark.kind is CSAN_FREE). Nothing is remembered. */
void shadow_check(struct shadow *shadow, const struct shadow_access *access);

/* Move what `from` remembers of [start, end) to `to`; `keep` says which marks are worth it. */
void shadow_move(struct shadow *to, struct shadow *from, uint64_t start, uint64_t end,
                 bool (*keep)(void *user, const struct mark *mark), void *user);

/* Forget what the host knows to have finished. Returns true when nothing is left. */
bool shadow_sweep(struct shadow *shadow, const struct order *order);

/* The live totals, for the statistics. */
static inline size_t shadow_cell_count(const struct shadow *shadow)
{
    return shadow->cells.count;
}

#endif
