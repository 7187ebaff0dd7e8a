/* What one launch touched, looked for in another's. See agreement.h. */
#include "runtime/learn/agreement.h"
#include "runtime/learn/pointer_layout.h"

#include <stdlib.h>

/* Of addresses in regions; signed, so that they can be moved by distances. */
struct interval {
    int64_t start, end;
};

/* In order, apart. */
struct intervals {
    size_t count;
    struct interval *at;
};

/* ---- The bytes of a set ---- */

static uint64_t runs_of(const struct learned_range *range)
{
    uint64_t runs = 1;
    for (uint8_t k = 0; k < range->dims; k++)
        runs = range->count[k] <= LEARNED_RUNS ? runs * range->count[k] : LEARNED_RUNS + 1;
    return runs;
}

static void expand(struct intervals *to, const struct learned_range *range, uint64_t address,
                   uint8_t dim)
{
    if (dim == range->dims) {
        to->at[to->count++] =
            (struct interval){(int64_t)address, (int64_t)(address + range->bytes)};
        return;
    }
    for (uint64_t i = 0; i < range->count[dim]; i++)
        expand(to, range, address + i * range->stride[dim], dim + 1);
}

static int compare(const void *left, const void *right)
{
    const struct interval *a = left, *b = right;
    return (a->start > b->start) - (a->start < b->start);
}

static void join(struct intervals *intervals)
{
    size_t kept = 0;
    if (intervals->count)
        qsort(intervals->at, intervals->count, sizeof *intervals->at, compare);
    for (size_t i = 0; i < intervals->count; i++) {
        struct interval *last = kept ? &intervals->at[kept - 1] : NULL, next = intervals->at[i];
        if (!last || next.start > last->end)
            intervals->at[kept++] = next;
        else if (next.end > last->end)
            last->end = next.end;
    }
    intervals->count = kept;
}

/* Where the anchors lie. False: too many, or memory is short. */
static bool intervals_of(struct intervals *made, const struct learned_set *set,
                         const struct pointer_layout *layout, uint8_t kind)
{
    uint64_t runs = 0;
    for (uint32_t i = 0; i < set->count && runs <= LEARNED_RUNS; i++)
        if (set->ranges[i].kind == kind)
            runs +=
                pointer_layout_near(&set->ranges[i]) ? runs_of(&set->ranges[i]) : LEARNED_RUNS + 1;
    *made = (struct intervals){0};
    if (runs > LEARNED_RUNS || !(made->at = malloc((runs + 1) * sizeof *made->at)))
        return false;
    for (uint32_t i = 0; i < set->count; i++)
        if (set->ranges[i].kind == kind)
            expand(made, &set->ranges[i], learned_range_address(&set->ranges[i], &layout->launch),
                   0);
    join(made);
    return true;
}

/* ---- From one pointer to another ---- */

static bool reaches_an_anchor(const struct learned_range *range,
                              const struct pointer_layout *layout)
{
    uint64_t begin = layout->anchors[range->anchor].address;
    uint64_t end = begin + (uint64_t)learned_range_end(range);
    bool reaches = false;
    for (uint32_t i = 0; i < layout->launch.anchor_count && !range->dims && !range->offset; i++)
        reaches |= layout->anchors[i].address == end;
    return reaches;
}

/* All that the set has of that anchor and kind. */
static bool all_reach(const struct learned_set *set, const struct pointer_layout *layout,
                      uint16_t anchor, uint8_t kind)
{
    for (uint32_t i = 0; i < set->count; i++)
        if (set->ranges[i].anchor == anchor && set->ranges[i].kind == kind &&
            !reaches_an_anchor(&set->ranges[i], layout))
            return false;
    return true;
}

/* ---- What one leaves of the other ---- */

/* Takes off what lies in [cut->start, cut->end) of the other, all of that `shift` higher. False:
 * memory is short. */
static bool subtract(struct intervals *left, const struct intervals *other, int64_t shift,
                     const struct interval *cut)
{
    struct interval *made = malloc((left->count + other->count + 1) * sizeof *made);
    size_t count = 0, k = 0;
    if (!made)
        return false;
    for (size_t i = 0; i < left->count; i++) {
        struct interval rest = left->at[i];
        while (k < other->count && other->at[k].end + shift <= rest.start)
            k++;
        for (size_t n = k; n < other->count && rest.start < rest.end; n++) {
            int64_t start = other->at[n].start + shift, end = other->at[n].end + shift;
            start = start > cut->start ? start : cut->start;
            end = end < cut->end ? end : cut->end;
            if (start >= rest.end)
                break;
            if (end <= rest.start || start >= end)
                continue;
            if (start > rest.start)
                made[count++] = (struct interval){rest.start, start};
            rest.start = end;
        }
        if (rest.start < rest.end)
            made[count++] = rest;
    }
    free(left->at);
    *left = (struct intervals){count, made};
    return true;
}

/* Both with the places of their anchors. */
struct side {
    const struct learned_set *set;
    const struct pointer_layout *layout;
};

static bool subtract_reaching(struct intervals *left, const struct side *own,
                              const struct side *other, uint8_t kind)
{
    const struct interval all = {INT64_MIN, INT64_MAX};
    for (uint32_t i = 0; i < own->set->count; i++) {
        const struct learned_range *range = &own->set->ranges[i];
        if (range->kind != kind || !all_reach(own->set, own->layout, range->anchor, kind) ||
            !all_reach(other->set, other->layout, range->anchor, kind))
            continue;
        int64_t start = (int64_t)learned_range_address(range, &own->layout->launch);
        struct interval run = {start, start + (int64_t)range->bytes};
        if (!subtract(left, &(struct intervals){1, &run}, 0, &all))
            return false;
    }
    return true;
}

/* Whether all of that kind that one touched is explained by the other. */
static bool explained(const struct side *own, const struct side *other, uint8_t kind)
{
    struct intervals left, theirs = {0};
    bool known = intervals_of(&left, own->set, own->layout, kind) &&
                 intervals_of(&theirs, other->set, other->layout, kind);
    for (uint32_t i = 0; known && left.count && i < own->layout->launch.anchor_count; i++) {
        const struct learn_anchor *here = &own->layout->anchors[i];
        struct interval region = {(int64_t)here->block.start, (int64_t)here->block.end};
        known =
            subtract(&left, &theirs, here->address - other->layout->anchors[i].address, &region);
    }
    if (known && left.count)
        known = subtract_reaching(&left, own, other, kind);
    bool all = !known || !left.count;
    free(left.at);
    free(theirs.at);
    return all;
}

bool learned_sets_agree(const struct learned_set *a, const struct learned_set *b)
{
    if (a->block_count || b->block_count || a->inexact || b->inexact)
        return true;
    struct pointer_layout *of_a = pointer_layout_create(b, a), *of_b = pointer_layout_create(a, b);
    struct side left = {a, of_a}, right = {b, of_b};
    bool agree = true;
    for (uint8_t kind = 0; of_a && of_b && agree && kind <= DEVICE_TRACE_ATOMIC; kind++)
        agree = explained(&left, &right, kind) && explained(&right, &left, kind);
    free(of_a);
    free(of_b);
    return agree;
}

/* ---- Of many ---- */

void agreements_put(struct agreements *agreements, uint32_t at, struct learned_set *set)
{
    if (agreements->sets[at] == set)
        return;
    learned_set_release(agreements->sets[at]);
    agreements->sets[at] = set ? learned_set_retain(set) : NULL;
    agreements->known[at] = 0;
    for (uint32_t i = 0; i < AGREEMENTS; i++)
        agreements->known[i] &= ~(UINT64_C(1) << at);
}

bool agreements_possible(struct agreements *agreements, uint32_t a, uint32_t b)
{
    uint32_t low = a < b ? a : b, high = a < b ? b : a;
    const uint64_t bit = UINT64_C(1) << high;
    if (!(agreements->known[low] & bit)) {
        agreements->known[low] |= bit;
        agreements->agree[low] &= ~bit;
        if (learned_sets_agree(agreements->sets[low], agreements->sets[high]))
            agreements->agree[low] |= bit;
    }
    return agreements->agree[low] & bit;
}

void agreements_clear(struct agreements *agreements)
{
    for (uint32_t i = 0; i < AGREEMENTS; i++)
        agreements_put(agreements, i, NULL);
}
