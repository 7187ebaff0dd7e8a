/* Sets put where another launch's anchors lie. See prediction.h. */
#include "runtime/learn/prediction.h"

#include <stdlib.h>
#include <string.h>

/* Anchors that are related lie in one district; districts are far apart. */
#define DISTRICT_SHIFT 44
#define DISTRICT_HALF  (UINT64_C(1) << (DISTRICT_SHIFT - 1))

enum { PLACED_RANGES = 1 << 16 };

/* Where anchors lie, as far as a set's relations tell. */
struct places {
    struct learn_launch launch;
    struct learn_anchor anchors[LEARN_MAX_ANCHORS];
    uint16_t district[LEARN_MAX_ANCHORS];
};

static uint32_t anchors_of(const struct learned_set *set)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < set->count; i++)
        if (set->ranges[i].anchor != LEARNED_NO_ANCHOR && set->ranges[i].anchor >= count)
            count = set->ranges[i].anchor + 1u;
    for (uint32_t i = 0; i < set->relation_count; i++) {
        if (set->relations[i].from >= count)
            count = set->relations[i].from + 1u;
        if (set->relations[i].to >= count)
            count = set->relations[i].to + 1u;
    }
    return count;
}

/* The district of `to` joins the other, where the relation wants it. */
static void places_tie(struct places *places, const struct learned_relation *relation)
{
    uint16_t joining = places->district[relation->to], joined = places->district[relation->from];
    uint64_t distance = places->anchors[relation->from].address + (uint64_t)relation->distance -
                        places->anchors[relation->to].address;
    if (joining == joined)
        return;
    for (uint32_t i = 0; i < places->launch.anchor_count; i++)
        if (places->district[i] == joining) {
            places->district[i] = joined;
            places->anchors[i].address += distance;
        }
}

/* False: they have no places. */
static bool places_make(struct places *places, const struct learned_set *seen, uint32_t count)
{
    if (count > LEARN_MAX_ANCHORS)
        return false;
    places->launch = (struct learn_launch){.anchors = places->anchors, .anchor_count = count};
    for (uint32_t i = 0; i < count; i++) {
        places->district[i] = (uint16_t)i;
        places->anchors[i] = (struct learn_anchor){.address = (uint64_t)(i + 1) << DISTRICT_SHIFT};
    }
    for (uint32_t i = 0; i < seen->relation_count; i++)
        places_tie(places, &seen->relations[i]);
    for (uint32_t i = 0; i < count; i++) {
        uint64_t middle = (uint64_t)(places->district[i] + 1) << DISTRICT_SHIFT;
        places->anchors[i].block =
            (struct learn_block){middle - DISTRICT_HALF, middle + DISTRICT_HALF};
    }
    return true;
}

static struct places *places_create(const struct learned_set *set, const struct learned_set *seen)
{
    uint32_t own = anchors_of(set), others = anchors_of(seen);
    struct places *places = malloc(sizeof *places);
    if (places && places_make(places, seen, own > others ? own : others))
        return places;
    free(places);
    return NULL;
}

static bool holds(const struct places *places, const struct learned_relation *relation)
{
    return places->district[relation->from] == places->district[relation->to] &&
           (int64_t)(places->anchors[relation->to].address -
                     places->anchors[relation->from].address) == relation->distance;
}

/* ---- A set in those places ---- */

struct placed {
    struct device_trace_range *ranges;
    size_t count, capacity;
    bool failed;
};

/* A trace's ranges have two dims at most: the outer ones are told one by one. */
static void place_range(struct placed *placed, const struct learned_range *range, uint64_t address,
                        uint8_t dim)
{
    if (range->dims - dim > 2) {
        for (uint64_t i = 0; i < range->count[dim] && !placed->failed; i++)
            place_range(placed, range, address + i * range->stride[dim], dim + 1);
        return;
    }
    if (placed->count == placed->capacity) {
        size_t capacity = placed->capacity ? 2 * placed->capacity : 16;
        struct device_trace_range *grown =
            capacity <= PLACED_RANGES ? realloc(placed->ranges, capacity * sizeof *grown) : NULL;
        if (!grown) {
            placed->failed = true;
            return;
        }
        placed->ranges = grown;
        placed->capacity = capacity;
    }
    struct device_trace_range *made = &placed->ranges[placed->count++];
    *made = (struct device_trace_range){.address = address,
                                        .bytes = range->bytes,
                                        .kind = range->kind,
                                        .dims = (uint32_t)(range->dims - dim)};
    for (uint32_t k = 0; k < made->dims; k++) {
        made->stride[k] = range->stride[dim + k];
        made->count[k] = range->count[dim + k];
    }
}

static bool is_near(const struct learned_range *range)
{
    return range->anchor != LEARNED_NO_ANCHOR && range->offset > -(int64_t)(DISTRICT_HALF / 4) &&
           learned_range_end(range) < (int64_t)(DISTRICT_HALF / 4);
}

static struct learn_block find_nothing(void *user, uint64_t address)
{
    (void)user;
    (void)address;
    return (struct learn_block){0};
}

/* What is not whole of the set, told anew. */
static struct learned_set *set_in(const struct learned_set *set, const struct places *places)
{
    struct placed placed = {0};
    struct learned_set *told = NULL;
    for (uint32_t i = 0; i < set->count && !placed.failed; i++) {
        const struct learned_range *range = &set->ranges[i];
        if (range->whole)
            continue;
        if (is_near(range))
            place_range(&placed, range,
                        places->anchors[range->anchor].address + (uint64_t)range->offset, 0);
        else
            placed.failed = true;
    }
    if (!placed.failed)
        told = learned_set_create(
            &(struct device_trace_launch){.ranges = placed.ranges, .count = placed.count},
            &places->launch, find_nothing, NULL);
    free(placed.ranges);
    return told;
}

static bool same_blocks(const struct learned_set *a, const struct learned_set *b)
{
    return a->block_count == b->block_count &&
           (!a->block_count ||
            memcmp(a->blocks, b->blocks, a->block_count * sizeof *a->blocks) == 0);
}

static bool has_ranges(const struct learned_set *set, uint16_t anchor)
{
    for (uint32_t i = 0; i < set->count; i++)
        if (set->ranges[i].anchor == anchor)
            return true;
    return false;
}

/* Whether all that the anchor leads to might be in what is told from another: they are equal, or it
 * lies where a range of the other ends. */
static bool may_be_hidden(const struct learned_set *set, uint16_t anchor)
{
    for (uint32_t i = 0; i < set->relation_count; i++) {
        const struct learned_relation *relation = &set->relations[i];
        if (relation->from != anchor && relation->to != anchor)
            continue;
        if (relation->distance == 0)
            return true;
        for (uint32_t k = 0; k < set->count && relation->to == anchor; k++)
            if (set->ranges[k].anchor == relation->from &&
                learned_range_end(&set->ranges[k]) == relation->distance)
                return true;
    }
    return false;
}

/* Two launches may both hide what an anchor leads to, each behind another. */
static bool refutes(const struct learned_set *seen, const struct learned_set *set, uint16_t anchor)
{
    return has_ranges(set, anchor) || !may_be_hidden(seen, anchor);
}

static bool relations_hold_or_go(const struct places *places, const struct learned_set *set,
                                 const struct learned_set *seen)
{
    for (uint32_t i = 0; i < set->relation_count; i++) {
        const struct learned_relation *relation = &set->relations[i];
        if (!holds(places, relation) &&
            !(refutes(seen, set, relation->from) && refutes(seen, set, relation->to)))
            return false;
    }
    return true;
}

bool learned_set_predicts(const struct learned_set *set, const struct learned_set *seen)
{
    bool equal = learned_set_equal(set, seen);
    if (set->block_count || seen->block_count || set->inexact || seen->inexact ||
        !(set->relation_count || seen->relation_count))
        return equal && same_blocks(set, seen); /* apart, each is its own normal form */
    struct places *places = places_create(set, seen);
    bool same = places && relations_hold_or_go(places, set, seen);
    if (same && !equal) {
        struct learned_set *told = set_in(set, places);
        same = told && learned_set_equal(told, seen);
        learned_set_release(told);
    }
    free(places);
    return same;
}

/* The ranges with those of the set's relations that hold. */
static struct learned_set *set_of(const struct learned_set *set, const struct places *places,
                                  const struct learned_range *ranges, uint32_t count, bool inexact)
{
    struct learned_relation *kept = malloc((set->relation_count + 1) * sizeof *kept);
    struct learned_set *made = NULL;
    uint32_t kept_count = 0;
    for (uint32_t i = 0; kept && i < set->relation_count; i++)
        if (holds(places, &set->relations[i]))
            kept[kept_count++] = set->relations[i];
    if (kept)
        made = learned_set_of_ranges(ranges, count, kept, kept_count, inexact);
    free(kept);
    return made;
}

struct learned_set *learned_set_relax(struct learned_set *set, const struct learned_set *seen)
{
    struct places *places =
        set->relation_count && !set->block_count ? places_create(set, seen) : NULL;
    struct learned_set *relaxed =
        places ? set_of(set, places, set->ranges, set->count, set->inexact) : NULL;
    free(places);
    if (!relaxed)
        return learned_set_retain(set);
    return relaxed;
}

/* ---- Bounds ---- */

/* Of each anchor and kind, whether it is whole. */
struct wholes {
    bool is[LEARN_MAX_ANCHORS][DEVICE_TRACE_ATOMIC + 1];
};

/* The first of the set's ranges of that anchor and kind, and how many; they are in order. */
static uint32_t group_of(const struct learned_set *set, uint16_t anchor, uint8_t kind,
                         uint32_t *count)
{
    uint32_t first = 0;
    while (first < set->count &&
           (set->ranges[first].anchor != anchor || set->ranges[first].kind != kind))
        first++;
    *count = 0;
    while (first + *count < set->count && set->ranges[first + *count].anchor == anchor &&
           set->ranges[first + *count].kind == kind)
        (*count)++;
    return first;
}

static bool same_group(const struct learned_set *a, const struct learned_set *b, uint16_t anchor,
                       uint8_t kind)
{
    uint32_t left_count, right_count;
    uint32_t left = group_of(a, anchor, kind, &left_count),
             right = group_of(b, anchor, kind, &right_count);
    bool same = left_count == right_count;
    for (uint32_t i = 0; same && i < left_count; i++)
        same = learned_range_equal(&a->ranges[left + i], &b->ranges[right + i]);
    return same;
}

static bool has_group(const struct learned_set *set, uint16_t anchor, uint8_t kind)
{
    uint32_t count;
    group_of(set, anchor, kind, &count);
    return count > 0;
}

/* Behind the last address that is told from the anchor. */
static uint64_t cell_end(const struct places *places, uint32_t anchor)
{
    uint64_t end = places->anchors[anchor].block.end;
    for (uint32_t i = 0; i < places->launch.anchor_count; i++)
        if (places->district[i] == places->district[anchor] &&
            places->anchors[i].address > places->anchors[anchor].address &&
            places->anchors[i].address < end)
            end = places->anchors[i].address;
    return end;
}

/* Whether what the set has of an anchor may be what was told from the other. */
static bool may_be(const struct places *places, const struct learned_range *range, uint32_t other)
{
    if (range->anchor == other)
        return true;
    if (places->district[range->anchor] != places->district[other])
        return false;
    uint64_t address = places->anchors[range->anchor].address;
    return address == places->anchors[other].address ||
           (address + (uint64_t)range->offset < cell_end(places, other) &&
            address + (uint64_t)learned_range_end(range) > places->anchors[other].address);
}

/* Of an anchor's bytes of that kind there is no telling. */
static void widen_group(struct wholes *wholes, const struct places *places,
                        const struct learned_set *set, uint32_t anchor, uint8_t kind)
{
    wholes->is[anchor][kind] = true;
    for (uint32_t i = 0; i < set->count; i++) {
        const struct learned_range *range = &set->ranges[i];
        if (range->kind == kind && !range->whole && may_be(places, range, anchor))
            wholes->is[range->anchor][kind] = true;
    }
}

static bool is_coarse(const struct learned_set *set)
{
    return set->inexact && !set->whole;
}

static void wholes_find(struct wholes *wholes, const struct places *places,
                        const struct learned_set *set, const struct learned_set *seen,
                        const struct learned_set *told)
{
    bool coarse = is_coarse(set) || is_coarse(seen) || !told;
    for (uint32_t i = 0; i < set->count; i++)
        if (set->ranges[i].whole || coarse)
            wholes->is[set->ranges[i].anchor][set->ranges[i].kind] = true;
    for (uint32_t i = 0; i < seen->count; i++)
        if (seen->ranges[i].whole || coarse)
            wholes->is[seen->ranges[i].anchor][seen->ranges[i].kind] = true;
    for (uint32_t anchor = 0; anchor < places->launch.anchor_count && !coarse; anchor++)
        for (uint8_t kind = 0; kind <= DEVICE_TRACE_ATOMIC; kind++) {
            bool covered = wholes->is[anchor][kind] && !has_group(told, (uint16_t)anchor, kind);
            if (!covered && !same_group(told, seen, (uint16_t)anchor, kind))
                widen_group(wholes, places, set, anchor, kind);
        }
}

/* In order: what stays of the set, and what is whole. */
static struct learned_set *set_with(const struct wholes *wholes, const struct places *places,
                                    const struct learned_set *set)
{
    uint32_t room = set->count + places->launch.anchor_count * (DEVICE_TRACE_ATOMIC + 1), count = 0;
    struct learned_range *ranges = calloc(room + 1, sizeof *ranges);
    struct learned_set *made = NULL;
    bool any = false;
    for (uint32_t anchor = 0; ranges && anchor < places->launch.anchor_count; anchor++)
        for (uint8_t kind = 0; kind <= DEVICE_TRACE_ATOMIC; kind++) {
            uint32_t own, first = group_of(set, (uint16_t)anchor, kind, &own);
            if (wholes->is[anchor][kind]) {
                ranges[count++] =
                    (struct learned_range){.anchor = (uint16_t)anchor, .kind = kind, .whole = true};
                any = true;
            } else if (own) {
                memcpy(&ranges[count], &set->ranges[first], own * sizeof *ranges);
                count += own;
            }
        }
    if (ranges)
        made = set_of(set, places, ranges, count, any);
    free(ranges);
    return made;
}

struct learned_set *learned_set_widen(struct learned_set *set, const struct learned_set *seen)
{
    if (set->block_count || seen->block_count)
        return NULL;
    struct places *places = places_create(set, seen);
    struct wholes *wholes = places ? calloc(1, sizeof *wholes) : NULL;
    struct learned_set *bound = NULL;
    if (wholes) {
        struct learned_set *told = set_in(set, places);
        wholes_find(wholes, places, set, seen, told);
        bound = set_with(wholes, places, set);
        learned_set_release(told);
    }
    free(wholes);
    free(places);
    return bound;
}
