#include "lmad.h"

#include <string.h>

/* ---- normal form */

static void sort_descending(struct lmad *lmad)
{
    for (uint32_t i = 1; i < lmad->dim_count; i++) {
        struct lmad_dim dim = lmad->dims[i];
        uint32_t j = i;
        for (; j > 0 && lmad->dims[j - 1].stride < dim.stride; j--)
            lmad->dims[j] = lmad->dims[j - 1];
        lmad->dims[j] = dim;
    }
}

static void remove_dim(struct lmad *lmad, uint32_t index)
{
    memmove(lmad->dims + index, lmad->dims + index + 1,
            (lmad->dim_count - index - 1) * sizeof(lmad->dims[0]));
    lmad->dim_count--;
}

/* Fold what is contiguous into `bytes`, then dimensions that continue their inner neighbour. */
static void merge_dims(struct lmad *lmad)
{
    while (lmad->dim_count) {
        struct lmad_dim inner = lmad->dims[lmad->dim_count - 1];
        if (inner.stride > lmad->bytes)
            break;
        lmad->bytes += inner.stride * (inner.count - 1);
        lmad->dim_count--;
    }
    for (uint32_t i = lmad->dim_count; i-- > 1;) {
        struct lmad_dim *outer = &lmad->dims[i - 1], *inner = &lmad->dims[i];
        if (outer->stride == inner->stride * inner->count) {
            inner->count *= outer->count;
            remove_dim(lmad, i - 1);
        }
    }
}

bool lmad_from_access(struct lmad *lmad, const struct csan_access *access)
{
    lmad->base = access->base;
    lmad->bytes = lmad->span = access->bytes;
    lmad->dim_count = 0; /* dims beyond it stay as they are: this is on the hot path */
    if (!access->bytes || access->dim_count > CSAN_MAX_DIMS)
        return false;
    for (uint32_t i = 0; i < access->dim_count; i++) {
        struct csan_dim dim = access->dims[i];
        if (dim.count == 0)
            return false;
        if (dim.count == 1 || dim.stride == 0)
            continue;
        uint64_t stride = dim.stride < 0 ? -(uint64_t)dim.stride : (uint64_t)dim.stride;
        uint64_t reach;
        if (__builtin_mul_overflow(stride, dim.count - 1, &reach) ||
            __builtin_add_overflow(lmad->span, reach, &lmad->span))
            return false;
        if (dim.stride < 0 && __builtin_sub_overflow(lmad->base, reach, &lmad->base))
            return false;
        lmad->dims[lmad->dim_count++] = (struct lmad_dim){stride, dim.count};
    }
    uint64_t last;
    if (__builtin_add_overflow(lmad->base, lmad->span - 1, &last) || last == UINT64_MAX)
        return false;
    if (lmad->dim_count) {
        sort_descending(lmad);
        merge_dims(lmad);
    }
    return true;
}

/* ---- what is touched from a place on */

/* A descriptor relative to its own base, outer dimensions peeled off: dims[0..dim_count). */
struct pattern {
    const struct lmad_dim *dims;
    uint32_t dim_count;
    uint64_t bytes, span;
};

static struct pattern pattern_of(const struct lmad *lmad)
{
    return (struct pattern){lmad->dims, lmad->dim_count, lmad->bytes, lmad->span};
}

static struct pattern pattern_inner(struct pattern p)
{
    uint64_t reach = p.dims[0].stride * (p.dims[0].count - 1);
    return (struct pattern){p.dims + 1, p.dim_count - 1, p.bytes, p.span - reach};
}

/* First run ending after `from` (both relative to the pattern's base). Where dimensions overlap,
 * several copies of the inner pattern may reach beyond `from`: the earliest of them wins. */
static bool pattern_next_run(struct pattern p, uint64_t from, uint64_t *start, uint64_t *end)
{
    *start = *end = 0;
    if (from >= p.span)
        return false;
    if (p.dim_count == 0) {
        *start = from;
        *end = p.bytes;
        return true;
    }
    struct pattern inner = pattern_inner(p);
    struct lmad_dim dim = p.dims[0];
    uint64_t first = from < inner.span ? 0 : (from - inner.span) / dim.stride + 1;
    bool found = false;
    for (uint64_t i = first; i < dim.count; i++) {
        uint64_t origin = i * dim.stride, run_start, run_end;
        if (found && origin >= *start)
            break;
        if (!pattern_next_run(inner, from > origin ? from - origin : 0, &run_start, &run_end))
            continue;
        if (!found || origin + run_start < *start) {
            *start = origin + run_start;
            *end = origin + run_end;
            found = true;
        }
    }
    return found;
}

bool lmad_next_run(const struct lmad *lmad, uint64_t from, uint64_t *start, uint64_t *end)
{
    uint64_t relative = from > lmad->base ? from - lmad->base : 0;
    if (!pattern_next_run(pattern_of(lmad), relative, start, end))
        return false;
    *start += lmad->base;
    *end += lmad->base;
    return true;
}

/* ---- do two meet */

struct meeting {
    uint32_t budget;
    bool undecided;
    uint64_t start, end; /* the common run, relative to the first pattern's base */
};

static uint64_t greatest_common_divisor(uint64_t a, uint64_t b)
{
    while (b) {
        uint64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

/* Every byte of a is in base_a + [0, bytes) modulo the common divisor of all strides, b's likewise:
 * when those residues are apart, so are the patterns (fields of interleaved structures). */
static bool residues_apart(struct pattern a, struct pattern b, uint64_t offset_b)
{
    uint64_t divisor = 0;
    for (uint32_t i = 0; i < a.dim_count; i++)
        divisor = greatest_common_divisor(divisor, a.dims[i].stride);
    for (uint32_t i = 0; i < b.dim_count; i++)
        divisor = greatest_common_divisor(divisor, b.dims[i].stride);
    if (divisor == 0 || a.bytes >= divisor || b.bytes >= divisor)
        return false;
    uint64_t from_a_to_b = offset_b % divisor;
    return from_a_to_b >= a.bytes && divisor - from_a_to_b >= b.bytes;
}

static bool patterns_meet(struct meeting *meeting, struct pattern a, struct pattern b,
                          int64_t offset);

/* Both are a stack of copies at one distance `stride` (a single copy counts as a stack of one):
 * copy i of a meets copy j of b only for the few differences i - j that bring the copies together.
 */
static bool stacks_meet(struct meeting *meeting, struct pattern a, uint64_t copies_a,
                        struct pattern b, uint64_t copies_b, uint64_t stride, int64_t offset)
{
    if (stride == 0)
        return false; /* neither has a dimension: never asked */
    /* Copy i of a starts at i*stride, copy j of b at offset + j*stride. With d = i - j, b's copy
     * lies offset - d*stride after a's: their hulls meet iff that is in (-span_b, span_a). */
    __int128 low = ((__int128)offset - (__int128)a.span) / (__int128)stride - 1;
    __int128 high = ((__int128)offset + (__int128)b.span) / (__int128)stride + 1;
    if (low < -(__int128)(copies_b - 1))
        low = -(__int128)(copies_b - 1);
    if (high > (__int128)(copies_a - 1))
        high = (__int128)(copies_a - 1);
    bool met = false;
    uint64_t best_start = 0, best_end = 0;
    for (__int128 d = low; d <= high; d++) {
        __int128 inner_offset = (__int128)offset - d * (__int128)stride;
        if (inner_offset >= (__int128)a.span || -inner_offset >= (__int128)b.span)
            continue;
        if (!patterns_meet(meeting, a, b, (int64_t)inner_offset)) {
            if (meeting->undecided)
                break; /* what was met so far still holds */
            continue;
        }
        uint64_t origin = d > 0 ? (uint64_t)d * stride : 0;
        if (!met || origin + meeting->start < best_start) {
            best_start = origin + meeting->start;
            best_end = origin + meeting->end;
        }
        met = true;
    }
    meeting->start = best_start;
    meeting->end = best_end;
    return met;
}

/* b's base lies at `offset` from a's. */
static bool patterns_meet(struct meeting *meeting, struct pattern a, struct pattern b,
                          int64_t offset)
{
    if (meeting->budget == 0) {
        meeting->undecided = true;
        return false;
    }
    meeting->budget--;
    if (offset >= 0 ? (uint64_t)offset >= a.span : (uint64_t)-offset >= b.span)
        return false;
    if (a.dim_count == 0 && b.dim_count == 0) {
        meeting->start = offset > 0 ? (uint64_t)offset : 0;
        int64_t end_b = offset + (int64_t)b.bytes;
        meeting->end = (int64_t)a.bytes < end_b ? a.bytes : (uint64_t)end_b;
        return true;
    }
    uint64_t stride_a = a.dim_count ? a.dims[0].stride : 0;
    uint64_t stride_b = b.dim_count ? b.dims[0].stride : 0;
    uint64_t stride = stride_a > stride_b ? stride_a : stride_b;
    uint64_t copies_a = 1, copies_b = 1;
    if (stride_a == stride) {
        copies_a = a.dims[0].count;
        a = pattern_inner(a);
    }
    if (stride_b == stride) {
        copies_b = b.dims[0].count;
        b = pattern_inner(b);
    }
    return stacks_meet(meeting, a, copies_a, b, copies_b, stride, offset);
}

enum { MEET_BUDGET = 4096 }; /* pattern comparisons: some 50 us at worst */

enum lmad_meeting lmad_meet(const struct lmad *a, const struct lmad *b, uint64_t *start,
                            uint64_t *end)
{
    uint64_t end_a = a->base + a->span, end_b = b->base + b->span;
    *start = a->base > b->base ? a->base : b->base;
    *end = end_a < end_b ? end_a : end_b;
    if (*start >= *end)
        return LMAD_APART;
    struct pattern pattern_a = pattern_of(a), pattern_b = pattern_of(b);
    uint64_t b_after_a = b->base - a->base; /* modulo 2^64 */
    if (b->base >= a->base ? residues_apart(pattern_a, pattern_b, b_after_a)
                           : residues_apart(pattern_b, pattern_a, a->base - b->base))
        return LMAD_APART;
    struct meeting meeting = {.budget = MEET_BUDGET};
    if (patterns_meet(&meeting, pattern_a, pattern_b, (int64_t)b_after_a)) {
        *start = a->base + meeting.start;
        *end = a->base + meeting.end;
        return LMAD_MEET;
    }
    return meeting.undecided ? LMAD_UNDECIDED : LMAD_APART;
}

/* ---- does one cover another */

static bool same_shape(const struct lmad *a, const struct lmad *b)
{
    if (a->dim_count != b->dim_count || a->bytes != b->bytes)
        return false;
    for (uint32_t i = 0; i < a->dim_count; i++)
        if (a->dims[i].stride != b->dims[i].stride || a->dims[i].count != b->dims[i].count)
            return false;
    return true;
}

bool lmad_covers(const struct lmad *outer, const struct lmad *inner)
{
    if (outer->base > inner->base || outer->base + outer->span < inner->base + inner->span)
        return false;
    if (outer->base == inner->base && same_shape(outer, inner))
        return true;
    uint64_t start, end;
    return lmad_next_run(outer, inner->base, &start, &end) && start == inner->base &&
           end >= inner->base + inner->span;
}
