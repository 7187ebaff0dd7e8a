/* Sets put where another launch's anchors lie. See prediction.h. */
#include "runtime/learn/prediction.h"
#include "runtime/learn/pointer_layout.h"

#include <stdlib.h>
#include <string.h>

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

/* Whether all bytes of the anchor may belong to another anchor: the two are equal, or it lies where
 * a range of the other ends. */
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

static bool relations_hold_or_go(const struct pointer_layout *layout, const struct learned_set *set,
                                 const struct learned_set *seen)
{
    for (uint32_t i = 0; i < set->relation_count; i++) {
        const struct learned_relation *relation = &set->relations[i];
        if (!pointer_layout_hold(layout, relation) &&
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
    struct pointer_layout *layout = pointer_layout_create(set, seen);
    bool same = layout && relations_hold_or_go(layout, set, seen);
    if (same && !equal) {
        struct learned_set *reanchored = pointer_layout_reanchor(layout, set);
        same = reanchored && learned_set_equal(reanchored, seen);
        learned_set_release(reanchored);
    }
    free(layout);
    return same;
}

struct learned_set *learned_set_relax(struct learned_set *set, const struct learned_set *seen)
{
    struct pointer_layout *layout =
        set->relation_count && !set->block_count ? pointer_layout_create(set, seen) : NULL;
    struct learned_set *relaxed =
        layout ? pointer_layout_set(layout, set, set->ranges, set->count, set->inexact) : NULL;
    free(layout);
    if (!relaxed)
        return learned_set_retain(set);
    return relaxed;
}
