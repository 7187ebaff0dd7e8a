/* Anchors in regions. See pointer_layout.h. */
#include "runtime/learn/pointer_layout.h"
#include "csan/base/array.h"

#include <stdlib.h>
#include <string.h>

enum { PLACED_RANGES = 1 << 16 };

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

/* The region of `to` joins the other, where the relation wants it. */
static void pointer_layout_tie(struct pointer_layout *layout,
                               const struct learned_relation *relation)
{
    uint16_t joining = layout->region[relation->to], joined = layout->region[relation->from];
    uint64_t distance = layout->anchors[relation->from].address + (uint64_t)relation->distance -
                        layout->anchors[relation->to].address;
    if (joining == joined)
        return;
    for (uint32_t i = 0; i < layout->launch.anchor_count; i++)
        if (layout->region[i] == joining) {
            layout->region[i] = joined;
            layout->anchors[i].address += distance;
        }
}

/* False: they have no layout. */
static bool pointer_layout_make(struct pointer_layout *layout, const struct learned_set *seen,
                                uint32_t count)
{
    if (count > LEARN_MAX_ANCHORS)
        return false;
    layout->launch = (struct learn_launch){.anchors = layout->anchors, .anchor_count = count};
    for (uint32_t i = 0; i < count; i++) {
        layout->region[i] = (uint16_t)i;
        layout->anchors[i] = (struct learn_anchor){.address = (uint64_t)(i + 1) << REGION_SHIFT};
    }
    for (uint32_t i = 0; i < seen->relation_count; i++)
        pointer_layout_tie(layout, &seen->relations[i]);
    for (uint32_t i = 0; i < count; i++) {
        uint64_t middle = (uint64_t)(layout->region[i] + 1) << REGION_SHIFT;
        layout->anchors[i].block = (struct learn_block){middle - REGION_HALF, middle + REGION_HALF};
    }
    return true;
}

struct pointer_layout *pointer_layout_create(const struct learned_set *set,
                                             const struct learned_set *seen)
{
    uint32_t own = anchors_of(set), others = anchors_of(seen);
    struct pointer_layout *layout = malloc(sizeof *layout);
    if (layout && pointer_layout_make(layout, seen, own > others ? own : others))
        return layout;
    free(layout);
    return NULL;
}

bool pointer_layout_hold(const struct pointer_layout *layout,
                         const struct learned_relation *relation)
{
    return layout->region[relation->from] == layout->region[relation->to] &&
           (int64_t)(layout->anchors[relation->to].address -
                     layout->anchors[relation->from].address) == relation->distance;
}

/* ---- A set in that layout ---- */

struct placed {
    struct device_trace_range *ranges;
    size_t count, capacity;
    bool failed;
};

/* A trace's ranges have two dims at most; each outer index becomes a range of its own. */
static void place_range(struct placed *placed, const struct learned_range *range, uint64_t address,
                        uint8_t dim)
{
    if (range->dims - dim > 2) {
        for (uint64_t i = 0; i < range->count[dim] && !placed->failed; i++)
            place_range(placed, range, address + i * range->stride[dim], dim + 1);
        return;
    }
    if (!array_room(&placed->ranges, placed->count, &placed->capacity, 16, PLACED_RANGES,
                    sizeof *placed->ranges)) {
        placed->failed = true;
        return;
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

bool pointer_layout_near(const struct learned_range *range)
{
    return range->anchor != LEARNED_NO_ANCHOR && range->offset > -(int64_t)(REGION_HALF / 4) &&
           learned_range_end(range) < (int64_t)(REGION_HALF / 4);
}

static struct learn_block find_nothing(void *user, uint64_t address)
{
    (void)user;
    (void)address;
    return (struct learn_block){0};
}

struct learned_set *pointer_layout_reanchor(const struct pointer_layout *layout,
                                            const struct learned_set *set)
{
    struct placed placed = {0};
    struct learned_set *reanchored = NULL;
    for (uint32_t i = 0; i < set->count && !placed.failed; i++) {
        const struct learned_range *range = &set->ranges[i];
        if (range->whole)
            continue;
        if (pointer_layout_near(range))
            place_range(&placed, range,
                        layout->anchors[range->anchor].address + (uint64_t)range->offset, 0);
        else
            placed.failed = true;
    }
    if (!placed.failed)
        reanchored = learned_set_create(
            &(struct device_trace_launch){.ranges = placed.ranges, .count = placed.count},
            &layout->launch, find_nothing, NULL);
    free(placed.ranges);
    return reanchored;
}

struct learned_set *pointer_layout_set(const struct pointer_layout *layout,
                                       const struct learned_set *set,
                                       const struct learned_range *ranges, uint32_t count,
                                       bool inexact)
{
    struct learned_relation *kept = malloc((set->relation_count + 1) * sizeof *kept);
    struct learned_set *made = NULL;
    uint32_t kept_count = 0;
    for (uint32_t i = 0; kept && i < set->relation_count; i++)
        if (pointer_layout_hold(layout, &set->relations[i]))
            kept[kept_count++] = set->relations[i];
    if (kept)
        made = learned_set_of_ranges(ranges, count, kept, kept_count, inexact);
    free(kept);
    return made;
}
