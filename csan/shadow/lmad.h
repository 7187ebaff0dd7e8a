/* A linear memory access descriptor in normal form, and the three questions the detector asks of
 * it: what does it touch from an address on, do two of them overlap, does one cover a range.
 *
 * Paek, Hoeflinger, Padua, "Efficient and precise array access analysis", ACM TOPLAS 24(1), 2002.
 */
#ifndef CSAN_SHADOW_LMAD_H
#define CSAN_SHADOW_LMAD_H

#include <csan/csan.h>
#include <stdbool.h>

/* Touches [base + sum(i_k * stride_k), + bytes) for 0 <= i_k < count_k.
 * Normal form: strides positive, outermost (largest) first, every count at least 2, the innermost
 * stride larger than bytes (else it is folded into bytes), neighbouring dimensions that continue
 * one another merged. base + span does not wrap. */
struct lmad {
    uint64_t base, bytes;
    uint64_t span; /* from base to one past the last byte */
    uint32_t dim_count;
    struct lmad_dim {
        uint64_t stride, count;
    } dims[CSAN_MAX_DIMS];
};

/* Normalise. Returns false when the access touches nothing (a count of 0) or wraps around. */
bool lmad_from_dims(struct lmad *lmad, const struct csan_access *access);
static inline bool lmad_from_access(struct lmad *lmad, const struct csan_access *access)
{
    uint64_t end;
    if (access->dim_count)
        return lmad_from_dims(lmad, access);
    lmad->base = access->base;
    lmad->bytes = lmad->span = access->bytes;
    lmad->dim_count = 0; /* keeps dims as they are: this is on the hot path */
    return access->bytes && !__builtin_add_overflow(access->base, access->bytes, &end);
}

/* From the first byte to one past the last, of an access that has an end (bytes is not
 * CSAN_TO_END). False: as above. */
bool lmad_hull(const struct csan_access *access, uint64_t *start, uint64_t *end);

static inline bool lmad_is_contiguous(const struct lmad *lmad)
{
    return lmad->dim_count == 0;
}

/* The first run of touched bytes that ends after `from`, as [*start, *end), cut to start at `from`
 * at the earliest. False when nothing is touched there. */
bool lmad_next_run(const struct lmad *lmad, uint64_t from, uint64_t *start, uint64_t *end);

enum lmad_overlap {
    LMAD_DISJOINT,
    LMAD_OVERLAP,  /* *start, *end: one contiguous run of common bytes */
    LMAD_UNDECIDED /* too costly to decide; *start, *end: the hulls' common range */
};
/* Exact whenever it does not say UNDECIDED: equal strides are peeled off one by one, differing ones
 * searched within a budget. */
enum lmad_overlap lmad_intersect(const struct lmad *a, const struct lmad *b, uint64_t *start,
                                 uint64_t *end);

/* True only if `outer` touches every byte of `inner`. It may be false although it does. */
bool lmad_covers(const struct lmad *outer, const struct lmad *inner);

#endif
