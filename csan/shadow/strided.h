/* Strided records: the histories of accesses whose bytes are no interval (LMADs). They lie beside
 * the cells of a shadow and may overlap each other and the cells.
 *
 *   record      one pattern, however many lanes touch it, and its history; a repeated launch
 *               finds its records by hash and renews their histories in place
 *   neighbours  the other records that overlap a record that was touched again, so that a hot
 *               access looks at these alone. It has only pairs of which one was ever written or
 *               updated atomically. The list is one-sided; a touch of the record updates it
 *   hulls       all records by address, for accesses that have no neighbours yet
 *
 * A record whose history is empty stays a while, because its list of neighbours is expensive.
 * A sweep, whenever the records have doubled, removes those whose accesses the host knows to have
 * finished. Beyond the cap the least recently touched go first. Records are never widened to an
 * interval.
 *
 * Not thread-safe: the context's lock covers every user. */
#ifndef CSAN_SHADOW_STRIDED_H
#define CSAN_SHADOW_STRIDED_H

#include "csan/shadow/access_history.h"
#include "csan/base/range_map.h"

struct strided_record;

/* A record's hull; sorted by start. */
struct strided_hull {
    struct range range;
    uint32_t slot;
};

/* What a walk over all records reads first. These lie close together. */
struct strided_brief {
    uint64_t last_op; /* that touched it */
    uint32_t lane;    /* the only lane in its history; or STRIDED_EMPTY, STRIDED_LANES */
};
enum { STRIDED_EMPTY = 0xffffffffu, STRIDED_LANES = 0xfffffffeu };

struct strided {
    struct strided_record *records; /* slots; a record keeps its slot as long as it lives */
    struct strided_brief *briefs;   /* by slot */
    struct strided_hull *hulls;
    uint64_t *block_ends; /* the greatest end of each block of hulls */
    uint32_t *buckets;    /* by hash of the pattern: first slot, then strided_record.next */
    uint32_t count;       /* of records and hulls */
    uint32_t capacity;    /* of records, briefs, hulls and buckets */
    uint32_t free_slots;  /* the first of a list */
    uint32_t sweep_at;    /* count at which the next sweep is due */
    uint64_t serial;      /* of the newest record */
    uint64_t swept_at;    /* serial as of the last sweep */
};

void strided_clear(struct strided *strided);

/* Checks an access, strided or not, against all records, and forgets what it makes superfluous. */
void strided_check(struct strided *strided, const struct shadow_access *access);
/* The same for a strided access, which is then remembered. */
void strided_touch(struct strided *strided, const struct shadow_access *access);

/* Forgets what the host knows to have finished. */
void strided_sweep(struct strided *strided, const struct order *order);

/* Copies the records of `from` that reach into [start, end), with the past accesses that `keep`
 * chooses. */
void strided_inherit(struct strided *to, const struct strided *from, struct range range,
                     bool (*keep)(void *user, const struct past_access *past), void *user);

/* Records that have past accesses. */
size_t strided_count(const struct strided *strided);

#endif
