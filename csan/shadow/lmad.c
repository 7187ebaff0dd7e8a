#include "csan/shadow/lmad.h"

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

/* Fold what is contiguous into `bytes`, then what continues or overlaps a dimension of a smaller
 * stride into that: {i*s} + {j*k*s} is {i*s} with more i's as soon as its steps leave no gap. */
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
        struct lmad_dim *inner = &lmad->dims[i];
        for (uint32_t j = i; j-- > 0;) {
            struct lmad_dim outer = lmad->dims[j];
            if (outer.stride % inner->stride || outer.stride / inner->stride > inner->count)
                continue;
            inner->count += outer.stride / inner->stride * (outer.count - 1);
            remove_dim(lmad, j);
            inner = &lmad->dims[--i];
        }
    }
}

bool lmad_from_dims(struct lmad *lmad, const struct csan_access *access)
{
    lmad->base = access->base;
    lmad->bytes = lmad->span = access->bytes;
    lmad->dim_count = 0;
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

/* ---- what is touched from an address on */

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

bool lmad_hull(const struct csan_access *access, uint64_t *start, uint64_t *end)
{
    struct lmad lmad;
    if (!lmad_from_access(&lmad, access))
        return false;
    *start = lmad.base;
    *end = lmad.base + lmad.span;
    return true;
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

/* ---- whether two overlap */

typedef __int128 wide; /* products of two strides or counts */

struct overlap {
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
static bool residues_apart(const struct lmad *a, const struct lmad *b)
{
    uint64_t divisor = 0;
    for (uint32_t i = 0; i < a->dim_count; i++)
        divisor = greatest_common_divisor(divisor, a->dims[i].stride);
    for (uint32_t i = 0; i < b->dim_count; i++)
        divisor = greatest_common_divisor(divisor, b->dims[i].stride);
    if (divisor == 0 || a->bytes >= divisor || b->bytes >= divisor)
        return false;
    uint64_t from_a_to_b = b->base >= a->base ? (b->base - a->base) % divisor
                                              : (divisor - (a->base - b->base) % divisor) % divisor;
    return from_a_to_b >= a->bytes && divisor - from_a_to_b >= b->bytes;
}

/* The least x >= 0 with low <= step*x mod modulus <= high, or -1: Euclid's algorithm on (step,
 * modulus), carrying the interval along. 0 <= low <= high < modulus < 2^63. */
static wide least_multiple_in(uint64_t step, uint64_t modulus, uint64_t low, uint64_t high)
{
    if (low == 0)
        return 0;
    step %= modulus;
    if (step == 0)
        return -1;
    if (step > modulus - step)
        return least_multiple_in(modulus - step, modulus, modulus - high, modulus - low);
    uint64_t first = (low - 1) / step + 1;
    if (first <= high / step)
        return first;
    /* No multiple before the first wrap: how often must it wrap, modulo the step? */
    uint64_t rest = modulus % step;
    wide wraps = least_multiple_in(rest ? step - rest : 0, step, low % step, high % step);
    if (wraps < 0)
        return -1;
    return ((wide)low + (wide)modulus * wraps - 1) / (wide)step + 1;
}

/* Equidistant runs: `count` of them, `bytes` long, the first at 0 or at an offset. */
struct progression {
    uint64_t stride, count, bytes;
};

static struct progression progression_of(struct pattern p)
{
    if (p.dim_count == 0)
        return (struct progression){1, 1, p.bytes};
    return (struct progression){p.dims[0].stride, p.dims[0].count, p.bytes};
}

/* Exact, in a logarithmic number of steps: b's run j overlaps a run of a iff it lies within a's
 * hull and its end is at most a.bytes + b.bytes - 2 past a multiple of a's stride. */
static bool progressions_intersect(struct overlap *overlap, struct progression a,
                                   struct progression b, int64_t offset)
{
    if (a.stride == 0 || b.stride == 0)
        return false; /* never: the normal form has none */
    wide last_a = (wide)a.stride * (a.count - 1) + a.bytes - 1;
    wide first = 0, last = (wide)b.count - 1; /* of b's runs, those within a's hull */
    wide end = (wide)offset + b.bytes - 1;    /* where b's run 0 ends, inclusive */
    if (end < 0)
        first = (-end - 1) / (wide)b.stride + 1;
    if (offset > last_a)
        return false;
    if (last > (last_a - offset) / (wide)b.stride)
        last = (last_a - offset) / (wide)b.stride;
    if (first > last)
        return false;
    end += first * b.stride;
    wide window = (wide)a.bytes + b.bytes - 1;
    if (a.count > 1 && window < (wide)a.stride) {
        uint64_t rest = (uint64_t)(end % a.stride);
        if (rest >= (uint64_t)window) {
            uint64_t low = a.stride - rest;
            wide more = least_multiple_in(b.stride, a.stride, low, low + (uint64_t)window - 1);
            if (more < 0 || first + more > last)
                return false;
            end += more * b.stride;
        }
    }
    wide start_b = end - b.bytes + 1;
    wide index = start_b < a.bytes ? 0 : (start_b - a.bytes) / (wide)a.stride + 1;
    wide start_a = index * (wide)a.stride, end_a = start_a + a.bytes;
    overlap->start = (uint64_t)(start_a > start_b ? start_a : start_b);
    overlap->end = (uint64_t)(end_a < end + 1 ? end_a : end + 1);
    return true;
}

static bool patterns_intersect(struct overlap *overlap, struct pattern a, struct pattern b,
                               int64_t offset);

/* A stack of copies of a pattern, at a distance that both stacks share. */
struct stack {
    struct pattern pattern;
    uint64_t copies;
};

/* Copy i of a starts at i*stride, copy j of b at offset + j*stride; with d = i - j, b's copy lies
 * offset - d*stride after a's. The common run is kept when it is the first so far. */
static void copies_intersect(struct overlap *overlap, struct stack a, struct stack b,
                             wide inner_offset, uint64_t origin, struct overlap *best, bool *found)
{
    if (inner_offset >= (wide)a.pattern.span || -inner_offset >= (wide)b.pattern.span ||
        !patterns_intersect(overlap, a.pattern, b.pattern, (int64_t)inner_offset))
        return;
    if (*found && origin + overlap->start >= best->start)
        return;
    best->start = origin + overlap->start;
    best->end = origin + overlap->end;
    *found = true;
}

/* Copies overlap only for the few differences of their numbers that bring their hulls together. The
 * search ends when no later pair can have an earlier first byte. */
static bool stacks_intersect(struct overlap *overlap, struct stack a, struct stack b,
                             uint64_t stride, int64_t offset)
{
    if (stride == 0)
        return false; /* never: one of them has a dimension */
    wide low = ((wide)offset - (wide)a.pattern.span) / (wide)stride - 1;
    wide high = ((wide)offset + (wide)b.pattern.span) / (wide)stride + 1;
    if (low < -(wide)(b.copies - 1))
        low = -(wide)(b.copies - 1);
    if (high > (wide)(a.copies - 1))
        high = (wide)(a.copies - 1);
    struct overlap best = {0};
    bool found = false;
    for (wide d = high < 0 ? high : 0; d >= low && !overlap->undecided; d--) {
        wide inner_offset = (wide)offset - d * (wide)stride;
        if (found && inner_offset >= (wide)best.start)
            break;
        copies_intersect(overlap, a, b, inner_offset, 0, &best, &found);
    }
    for (wide d = low > 1 ? low : 1; d <= high && !overlap->undecided; d++) {
        if (found && d * (wide)stride >= (wide)best.start)
            break;
        copies_intersect(overlap, a, b, (wide)offset - d * (wide)stride, (uint64_t)d * stride,
                         &best, &found);
    }
    overlap->start = best.start;
    overlap->end = best.end;
    return found;
}

/* `fine` continues with a smaller stride that divides `stride`: cut it into copies at `stride`,
 * so that both are stacks of one distance, and what is left over. */
struct cut {
    struct lmad_dim dims[CSAN_MAX_DIMS]; /* of a copy; the rest has dims[0].count = rest_count */
    struct stack stack;
    uint64_t rest_count, rest_offset;
};

static bool can_cut(struct pattern fine, uint64_t stride)
{
    return fine.dim_count && stride % fine.dims[0].stride == 0 &&
           stride / fine.dims[0].stride <= fine.dims[0].count;
}

static void cut(struct cut *pieces, struct pattern fine, uint64_t stride)
{
    struct lmad_dim outer = fine.dims[0];
    uint64_t each = stride / outer.stride;
    memcpy(pieces->dims, fine.dims, fine.dim_count * sizeof(fine.dims[0]));
    pieces->dims[0].count = each;
    pieces->stack.copies = outer.count / each;
    pieces->stack.pattern = fine;
    pieces->stack.pattern.dims = pieces->dims;
    pieces->stack.pattern.span -= outer.stride * (outer.count - each);
    pieces->rest_count = outer.count % each;
    pieces->rest_offset = pieces->stack.copies * stride;
}

static struct pattern cut_rest(struct cut *pieces)
{
    struct pattern rest = pieces->stack.pattern;
    rest.span -= pieces->dims[0].stride * (pieces->dims[0].count - pieces->rest_count);
    pieces->dims[0].count = pieces->rest_count;
    return rest;
}

static struct stack peel(struct pattern p, uint64_t stride)
{
    if (p.dim_count && p.dims[0].stride == stride)
        return (struct stack){pattern_inner(p), p.dims[0].count};
    return (struct stack){p, 1};
}

/* a's outer stride is `stride`, b's divides it. */
static bool intersect_cut(struct overlap *overlap, struct pattern a, struct pattern b,
                          uint64_t stride, int64_t offset, bool swapped)
{
    struct cut pieces;
    cut(&pieces, swapped ? a : b, stride);
    struct stack coarse = peel(swapped ? b : a, stride);
    bool found = swapped ? stacks_intersect(overlap, pieces.stack, coarse, stride, offset)
                         : stacks_intersect(overlap, coarse, pieces.stack, stride, offset);
    if (found || pieces.rest_count == 0 || overlap->undecided)
        return found;
    struct pattern rest = cut_rest(&pieces);
    if (!swapped)
        return patterns_intersect(overlap, a, rest, offset + (int64_t)pieces.rest_offset);
    found = patterns_intersect(overlap, rest, b, offset - (int64_t)pieces.rest_offset);
    overlap->start += pieces.rest_offset;
    overlap->end += pieces.rest_offset;
    return found;
}

/* b's base lies at `offset` from a's. */
static bool patterns_intersect(struct overlap *overlap, struct pattern a, struct pattern b,
                               int64_t offset)
{
    if (overlap->budget == 0) {
        overlap->undecided = true;
        return false;
    }
    overlap->budget--;
    if (offset >= 0 ? (uint64_t)offset >= a.span : (uint64_t)-offset >= b.span)
        return false;
    if (a.dim_count <= 1 && b.dim_count <= 1)
        return progressions_intersect(overlap, progression_of(a), progression_of(b), offset);
    uint64_t stride_a = a.dim_count ? a.dims[0].stride : 0;
    uint64_t stride_b = b.dim_count ? b.dims[0].stride : 0;
    if (stride_a > stride_b && can_cut(b, stride_a))
        return intersect_cut(overlap, a, b, stride_a, offset, false);
    if (stride_b > stride_a && can_cut(a, stride_b))
        return intersect_cut(overlap, a, b, stride_b, offset, true);
    uint64_t stride = stride_a > stride_b ? stride_a : stride_b;
    return stacks_intersect(overlap, peel(a, stride), peel(b, stride), stride, offset);
}

enum { INTERSECT_BUDGET = 4096 }; /* pattern comparisons: some 100 us at worst */

enum lmad_overlap lmad_intersect(const struct lmad *a, const struct lmad *b, uint64_t *start,
                                 uint64_t *end)
{
    uint64_t end_a = a->base + a->span, end_b = b->base + b->span;
    *start = a->base > b->base ? a->base : b->base;
    *end = end_a < end_b ? end_a : end_b;
    if (*start >= *end)
        return LMAD_DISJOINT;
    if (lmad_is_contiguous(a) && lmad_is_contiguous(b))
        return LMAD_OVERLAP;
    if (a->span > INT64_MAX / 2 || b->span > INT64_MAX / 2)
        return LMAD_UNDECIDED; /* no memory is that large, and differences must have a sign */
    if (residues_apart(a, b))
        return LMAD_DISJOINT;
    struct overlap overlap = {.budget = INTERSECT_BUDGET};
    if (patterns_intersect(&overlap, pattern_of(a), pattern_of(b), (int64_t)(b->base - a->base))) {
        *start = a->base + overlap.start;
        *end = a->base + overlap.end;
        return LMAD_OVERLAP;
    }
    return overlap.undecided ? LMAD_UNDECIDED : LMAD_DISJOINT;
}

/* ---- does one cover another */

static bool pattern_covers(struct pattern outer, struct pattern inner, int64_t offset,
                           uint32_t *budget);

/* Cut `inner` along its outer dimension: each copy must be covered. */
static bool covers_each(struct pattern outer, struct pattern inner, int64_t offset,
                        uint32_t *budget)
{
    struct pattern copy = pattern_inner(inner);
    for (uint64_t i = 0; i < inner.dims[0].count; i++)
        if (!pattern_covers(outer, copy, offset + (int64_t)(i * inner.dims[0].stride), budget))
            return false;
    return true;
}

/* inner's base lies at `offset` from outer's. Looks in one place where dimensions overlap: may miss
 * a cover, never invents one. */
static bool pattern_covers(struct pattern outer, struct pattern inner, int64_t offset,
                           uint32_t *budget)
{
    if (*budget == 0 || offset < 0 || outer.span < inner.span ||
        (uint64_t)offset > outer.span - inner.span)
        return false;
    --*budget;
    if (outer.dim_count == 0)
        return true;
    struct lmad_dim dim = outer.dims[0];
    uint64_t inner_stride = inner.dim_count ? inner.dims[0].stride : 0;
    if (inner_stride > dim.stride)
        return covers_each(outer, inner, offset, budget);
    uint64_t index = (uint64_t)offset / dim.stride;
    index = index < dim.count ? index : dim.count - 1;
    int64_t rest = offset - (int64_t)(index * dim.stride);
    if (inner_stride < dim.stride)
        return pattern_covers(pattern_inner(outer), inner, rest, budget);
    return index + inner.dims[0].count <= dim.count &&
           pattern_covers(pattern_inner(outer), pattern_inner(inner), rest, budget);
}

bool lmad_covers(const struct lmad *outer, const struct lmad *inner)
{
    enum { COVER_BUDGET = 64 };
    uint32_t budget = COVER_BUDGET;
    if (outer->base > inner->base || outer->base + outer->span < inner->base + inner->span)
        return false;
    return inner->span <= INT64_MAX && outer->span <= INT64_MAX &&
           pattern_covers(pattern_of(outer), pattern_of(inner),
                          (int64_t)(inner->base - outer->base), &budget);
}
