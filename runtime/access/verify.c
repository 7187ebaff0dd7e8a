/* Works on sorted lists of disjoint runs of bytes, one kind of access at a time: the truth, the
 * union of the set's ranges, and each exact range. What of one list is missing from another is a
 * walk along both. See verify.h. */
#include "runtime/access/verify.h"
#include "csan/base/array.h"

#include <stdlib.h>
#include <string.h>

struct run {
    uint64_t first, last; /* inclusive: a run may end with the address space */
};

struct runs {
    struct run *at;
    size_t count, capacity;
    bool failed; /* too many, or memory is short */
};

/* ---- Lists of runs ------------------------------------------------------------------------- */

static void runs_add(struct runs *runs, uint64_t first, uint64_t bytes)
{
    if (!bytes || runs->failed)
        return;
    uint64_t last = first + bytes - 1;
    struct run *previous = runs->count ? &runs->at[runs->count - 1] : NULL;
    if (previous && first >= previous->first && first <= previous->last + 1 && previous->last + 1) {
        previous->last = last > previous->last ? last : previous->last;
        return;
    }
    if (!array_room(&runs->at, runs->count, &runs->capacity, 64, VERIFY_MAX_RUNS,
                    sizeof *runs->at)) {
        runs->failed = true;
        return;
    }
    runs->at[runs->count++] = (struct run){first, last};
}

static int compare_runs(const void *left, const void *right)
{
    const struct run *a = left, *b = right;
    return a->first < b->first ? -1 : a->first > b->first;
}

static bool in_order(const struct runs *runs)
{
    for (size_t i = 1; i < runs->count; i++)
        if (runs->at[i].first <= runs->at[i - 1].last)
            return false;
    return true;
}

/* Sorted and disjoint from here on. */
static void runs_settle(struct runs *runs)
{
    if (in_order(runs))
        return;
    qsort(runs->at, runs->count, sizeof *runs->at, compare_runs);
    size_t count = 0;
    for (size_t i = 1; i < runs->count; i++) {
        struct run *current = &runs->at[count], next = runs->at[i];
        if (next.first <= current->last || next.first == current->last + 1)
            current->last = next.last > current->last ? next.last : current->last;
        else
            runs->at[++count] = next;
    }
    runs->count = count + 1;
}

/* The first run of bytes that `wanted` has and `given` lacks; false when there is none. */
static bool runs_missing(const struct runs *wanted, const struct runs *given, struct run *missing)
{
    size_t g = 0;
    for (size_t w = 0; w < wanted->count; w++) {
        uint64_t first = wanted->at[w].first, last = wanted->at[w].last;
        while (g < given->count && given->at[g].last < first)
            g++;
        while (g < given->count && given->at[g].first <= first) {
            if (given->at[g].last >= last)
                break;
            first = given->at[g++].last + 1;
        }
        if (g < given->count && given->at[g].first <= first)
            continue;
        if (g < given->count && given->at[g].first <= last)
            last = given->at[g].first - 1;
        *missing = (struct run){first, last};
        return true;
    }
    return false;
}

/* ---- Strided ranges to runs ---------------------------------------------------------------- */

struct shape {
    uint64_t address, bytes;
    uint32_t dim_count;
    struct access_dim dims[ACCESS_MAX_DIMS]; /* once settled: positive strides, largest first */
};

static uint64_t magnitude(int64_t stride)
{
    return stride < 0 ? 0 - (uint64_t)stride : (uint64_t)stride;
}

static void shape_insert(struct shape *shape, struct access_dim dim)
{
    uint32_t place = shape->dim_count++;
    for (; place && magnitude(shape->dims[place - 1].stride) < magnitude(dim.stride); place--)
        shape->dims[place] = shape->dims[place - 1];
    shape->dims[place] = dim;
}

/* Turns strides upwards and joins what is contiguous or overlaps, innermost first. */
static struct shape shape_settle(uint64_t address, uint64_t bytes, const struct access_dim *dims,
                                 uint32_t dim_count)
{
    struct shape shape = {.address = address, .bytes = bytes};
    for (uint32_t k = 0; k < dim_count && k < ACCESS_MAX_DIMS; k++) {
        struct access_dim dim = dims[k];
        if (dim.count <= 1 || !dim.stride) {
            shape.bytes = dim.count ? shape.bytes : 0;
            continue;
        }
        if (dim.stride < 0) {
            shape.address += (dim.count - 1) * (uint64_t)dim.stride;
            dim.stride = (int64_t)magnitude(dim.stride);
        }
        shape_insert(&shape, dim);
    }
    while (shape.dim_count && shape.bytes) {
        const struct access_dim *inner = &shape.dims[shape.dim_count - 1];
        if ((uint64_t)inner->stride > shape.bytes)
            break;
        shape.bytes += (inner->count - 1) * (uint64_t)inner->stride;
        shape.dim_count--;
    }
    return shape;
}

/* What of [first, last] lies in the limit; addresses wrap, so `last` may be below `first`. */
static void add_limited(struct runs *runs, struct run limit, uint64_t first, uint64_t last)
{
    if (last < first) {
        add_limited(runs, limit, 0, last);
        last = UINT64_MAX;
    }
    if (first > limit.last || last < limit.first)
        return;
    first = first < limit.first ? limit.first : first;
    last = last > limit.last ? limit.last : last;
    runs_add(runs, first, last - first + 1);
}

/* All of it that lies in [limit.first, limit.last]. */
static void shape_expand(const struct shape *shape, struct run limit, struct runs *runs)
{
    uint64_t index[ACCESS_MAX_DIMS] = {0}, steps = 0;
    for (;;) {
        uint64_t first = shape->address;
        for (uint32_t k = 0; k < shape->dim_count; k++)
            first += index[k] * (uint64_t)shape->dims[k].stride;
        if (shape->bytes)
            add_limited(runs, limit, first, first + shape->bytes - 1);
        uint32_t k = shape->dim_count;
        while (k && ++index[k - 1] == shape->dims[k - 1].count)
            index[--k] = 0;
        if (!k || runs->failed)
            return;
        if (++steps > VERIFY_MAX_RUNS) {
            runs->failed = true;
            return;
        }
    }
}

static void expand_touch(const struct verify_touch *touch, struct runs *runs)
{
    struct access_dim dims[2];
    for (uint32_t k = 0; k < touch->dims && k < 2; k++)
        dims[k] = (struct access_dim){(int64_t)touch->stride[k], touch->count[k]};
    struct shape shape =
        shape_settle(touch->address, touch->bytes, dims, touch->dims < 2 ? touch->dims : 2);
    shape_expand(&shape, (struct run){0, UINT64_MAX}, runs);
}

/* What is not exact ends with the allocation. */
static void expand_range(const struct access_range *range, const struct verify_base *base,
                         struct runs *runs)
{
    struct run limit = {0, UINT64_MAX};
    bool sized = range->bytes != ACCESS_TO_END && range->bytes != ACCESS_WHOLE;
    if (base->absent)
        return;
    if (range->bound != ACCESS_EXACT || !sized) {
        if (!base->bytes)
            return;
        limit = (struct run){base->allocation, base->allocation + base->bytes - 1};
    }
    uint64_t address = base->address + (uint64_t)range->offset;
    if (sized) {
        struct shape shape = shape_settle(address, range->bytes, range->dims, range->dim_count);
        shape_expand(&shape, limit, runs);
        return;
    }
    if (range->bytes == ACCESS_WHOLE || address < limit.first)
        address = limit.first;
    if (address <= limit.last)
        runs_add(runs, address, limit.last - address + 1);
}

/* ---- Judging ------------------------------------------------------------------------------- */

static void disagree(struct verify_result *result, enum verify_fault fault, uint32_t kind,
                     uint32_t range, struct run run)
{
    result->verdict = VERIFY_DISAGREES;
    if (result->count < VERIFY_MAX_DISAGREEMENTS)
        result->disagreements[result->count++] =
            (struct verify_disagreement){.fault = fault,
                                         .kind = kind,
                                         .range = range,
                                         .address = run.first,
                                         .bytes = run.last - run.first + 1};
}

static void too_large(struct verify_result *result)
{
    if (result->verdict == VERIFY_AGREES)
        result->verdict = VERIFY_TOO_LARGE;
}

/* Whether what the set calls the one may be what the truth calls the other. */
static bool kinds_match(const struct verify_case *checked, uint32_t claimed, uint32_t real)
{
    return claimed == real ||
           (checked->any_strength && (claimed == ACCESS_ATOMIC || real == ACCESS_ATOMIC));
}

static void check_sound(const struct verify_case *checked, uint32_t kind, const struct runs *truth,
                        struct runs *scratch, struct verify_result *result)
{
    struct run missing;
    if (!checked->set->complete || checked->coarse || !truth->count)
        return;
    scratch->count = 0;
    scratch->failed = false;
    for (uint32_t i = 0; i < checked->set->range_count; i++) {
        const struct access_range *range = &checked->set->ranges[i];
        if (kinds_match(checked, range->kind, kind))
            expand_range(range, &checked->bases[range->base], scratch);
    }
    if (scratch->failed) {
        too_large(result);
        return;
    }
    runs_settle(scratch);
    if (runs_missing(truth, scratch, &missing))
        disagree(result, VERIFY_UNSOUND, kind, UINT32_MAX, missing);
}

static void check_exact(const struct verify_case *checked, uint32_t index, const struct runs *truth,
                        struct runs *scratch, struct verify_result *result)
{
    const struct access_range *range = &checked->set->ranges[index];
    struct run missing;
    scratch->count = 0;
    scratch->failed = false;
    expand_range(range, &checked->bases[range->base], scratch);
    if (scratch->failed) {
        too_large(result);
        return;
    }
    runs_settle(scratch);
    if (runs_missing(scratch, truth, &missing))
        disagree(result, VERIFY_NOT_EXACT, range->kind, index, missing);
}

/* What was touched with that kind, or with `matching` any kind that the set may call so. False:
 * there is too much of it. */
static bool truth_of(const struct verify_case *checked, uint32_t kind, bool matching,
                     struct runs *truth)
{
    truth->count = 0;
    truth->failed = false;
    for (size_t i = 0; i < checked->touch_count; i++) {
        uint32_t real = checked->touches[i].kind;
        if (real == kind || (matching && kinds_match(checked, kind, real)))
            expand_touch(&checked->touches[i], truth);
    }
    runs_settle(truth);
    return !truth->failed;
}

static void check_kind(const struct verify_case *checked, uint32_t kind, struct runs *truth,
                       struct runs *scratch, struct verify_result *result)
{
    if (!truth_of(checked, kind, false, truth)) {
        too_large(result);
        return;
    }
    check_sound(checked, kind, truth, scratch, result);
    if (checked->any_strength && !truth_of(checked, kind, true, truth)) {
        too_large(result);
        return;
    }
    for (uint32_t i = 0; i < checked->set->range_count; i++) {
        const struct access_range *range = &checked->set->ranges[i];
        if (range->kind == kind && range->bound == ACCESS_EXACT && !checked->unfinished &&
            !checked->bases[range->base].unwatched)
            check_exact(checked, i, truth, scratch, result);
    }
}

void verify_check(const struct verify_case *checked, struct verify_result *result)
{
    struct runs truth = {0}, scratch = {0};
    memset(result, 0, sizeof *result);
    for (uint32_t kind = ACCESS_READ; kind <= ACCESS_ATOMIC; kind++)
        check_kind(checked, kind, &truth, &scratch, result);
    free(truth.at);
    free(scratch.at);
}
