/* Bounds of several sets. See bound.h. */
#include "runtime/learn/bound.h"
#include "runtime/learn/pointer_layout.h"

#include <stdlib.h>
#include <string.h>

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

/* Behind the last address that belongs to the anchor. */
static uint64_t cell_end(const struct pointer_layout *layout, uint32_t anchor)
{
    uint64_t end = layout->anchors[anchor].block.end;
    for (uint32_t i = 0; i < layout->launch.anchor_count; i++)
        if (layout->region[i] == layout->region[anchor] &&
            layout->anchors[i].address > layout->anchors[anchor].address &&
            layout->anchors[i].address < end)
            end = layout->anchors[i].address;
    return end;
}

/* Whether the set's bytes of one anchor may be the other's. */
static bool may_be(const struct pointer_layout *layout, const struct learned_range *range,
                   uint32_t other)
{
    if (range->anchor == other)
        return true;
    if (layout->region[range->anchor] != layout->region[other])
        return false;
    uint64_t address = layout->anchors[range->anchor].address;
    return address == layout->anchors[other].address ||
           (address + (uint64_t)range->offset < cell_end(layout, other) &&
            address + (uint64_t)learned_range_end(range) > layout->anchors[other].address);
}

/* The anchor's bytes of that kind are not known. */
static void widen_group(struct wholes *wholes, const struct pointer_layout *layout,
                        const struct learned_set *set, uint32_t anchor, uint8_t kind)
{
    wholes->is[anchor][kind] = true;
    for (uint32_t i = 0; i < set->count; i++) {
        const struct learned_range *range = &set->ranges[i];
        if (range->kind == kind && !range->whole && may_be(layout, range, anchor))
            wholes->is[range->anchor][kind] = true;
    }
}

static bool is_coarse(const struct learned_set *set)
{
    return set->inexact && !set->whole;
}

static void wholes_find(struct wholes *wholes, const struct pointer_layout *layout,
                        const struct learned_set *set, const struct learned_set *seen,
                        const struct learned_set *reanchored)
{
    bool coarse = is_coarse(set) || is_coarse(seen) || !reanchored;
    for (uint32_t i = 0; i < set->count; i++)
        if (set->ranges[i].whole || coarse)
            wholes->is[set->ranges[i].anchor][set->ranges[i].kind] = true;
    for (uint32_t i = 0; i < seen->count; i++)
        if (seen->ranges[i].whole || coarse)
            wholes->is[seen->ranges[i].anchor][seen->ranges[i].kind] = true;
    for (uint32_t anchor = 0; anchor < layout->launch.anchor_count && !coarse; anchor++)
        for (unsigned kind = 0; kind <= DEVICE_TRACE_ATOMIC; kind++) {
            bool covered =
                wholes->is[anchor][kind] && !has_group(reanchored, (uint16_t)anchor, kind);
            if (!covered && !same_group(reanchored, seen, (uint16_t)anchor, kind))
                widen_group(wholes, layout, set, anchor, kind);
        }
}

/* In order: what stays of the set, and what is whole. */
static struct learned_set *set_with(const struct wholes *wholes,
                                    const struct pointer_layout *layout,
                                    const struct learned_set *set)
{
    uint32_t room = set->count + layout->launch.anchor_count * (DEVICE_TRACE_ATOMIC + 1), count = 0;
    struct learned_range *ranges = calloc(room + 1, sizeof *ranges);
    struct learned_set *made = NULL;
    bool any = false;
    for (uint32_t anchor = 0; ranges && anchor < layout->launch.anchor_count; anchor++)
        for (unsigned kind = 0; kind <= DEVICE_TRACE_ATOMIC; kind++) {
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
        made = pointer_layout_set(layout, set, ranges, count, any);
    free(ranges);
    return made;
}

/* Whether the range is the first of its anchor and kind. */
static bool begins_group(const struct learned_set *set, uint32_t at)
{
    return !at || set->ranges[at].anchor != set->ranges[at - 1].anchor ||
           set->ranges[at].kind != set->ranges[at - 1].kind;
}

/* Of the anchor and kind of that range. */
static bool is_whole(const struct learned_set *bound, const struct learned_range *range)
{
    uint32_t count, first = group_of(bound, range->anchor, range->kind, &count);
    return count && bound->ranges[first].whole;
}

static bool has_exact(const struct learned_set *bound)
{
    for (uint32_t i = 0; i < bound->count; i++)
        if (!bound->ranges[i].whole)
            return true;
    return false;
}

bool learned_set_is_within(const struct learned_set *set, const struct learned_set *bound)
{
    bool within = bound->whole && !set->inexact && !set->block_count && !bound->block_count &&
                  has_exact(bound) && learned_relations_within(bound, set);
    for (uint32_t i = 0; within && i < set->count; i++)
        within = !begins_group(set, i) || is_whole(bound, &set->ranges[i]) ||
                 same_group(set, bound, set->ranges[i].anchor, set->ranges[i].kind);
    for (uint32_t i = 0; within && i < bound->count; i++)
        within = bound->ranges[i].whole || !begins_group(bound, i) ||
                 has_group(set, bound->ranges[i].anchor, bound->ranges[i].kind);
    return within;
}

bool learned_bound_equal(const struct learned_set *a, const struct learned_set *b)
{
    return a == b || (learned_set_equal(a, b) && learned_relations_within(a, b) &&
                      learned_relations_within(b, a));
}

struct learned_set *learned_set_widen(struct learned_set *set, const struct learned_set *seen)
{
    if (set->block_count || seen->block_count)
        return NULL;
    struct pointer_layout *layout = pointer_layout_create(set, seen);
    struct wholes *wholes = layout ? calloc(1, sizeof *wholes) : NULL;
    struct learned_set *bound = NULL;
    if (wholes) {
        struct learned_set *reanchored = pointer_layout_reanchor(layout, set);
        wholes_find(wholes, layout, set, seen, reanchored);
        bound = set_with(wholes, layout, set);
        learned_set_release(reanchored);
    }
    free(wholes);
    free(layout);
    return bound;
}
