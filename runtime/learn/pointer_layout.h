/* Places anchors at addresses that satisfy a set's relations, and moves sets to those addresses.
 * For prediction.c, agreement.c and bound.c.
 *
 * Related anchors lie in one region; regions are far apart. */
#ifndef RUNTIME_LEARN_POINTER_LAYOUT_H
#define RUNTIME_LEARN_POINTER_LAYOUT_H

#include "runtime/learn/learned_set.h"

#define REGION_SHIFT 44
#define REGION_HALF  (UINT64_C(1) << (REGION_SHIFT - 1))

struct pointer_layout {
    struct learn_launch launch; /* of the anchors; their blocks are the regions */
    struct learn_anchor anchors[LEARN_MAX_ANCHORS];
    uint16_t region[LEARN_MAX_ANCHORS];
};

/* The layout of all anchors that either set names, by the relations of `seen`. NULL when memory is
 * short, or when there is no layout. free() it. */
struct pointer_layout *pointer_layout_create(const struct learned_set *set,
                                             const struct learned_set *seen);
bool pointer_layout_hold(const struct pointer_layout *layout,
                         const struct learned_relation *relation);

/* Whether the range stays in its anchor's region. */
bool pointer_layout_near(const struct learned_range *range);

/* The set without its whole blocks, with each range assigned to the nearest anchor of this layout.
 * NULL: that is not possible. */
struct learned_set *pointer_layout_reanchor(const struct pointer_layout *layout,
                                            const struct learned_set *set);
/* The ranges, with those of the set's relations that hold. NULL when memory is short. */
struct learned_set *pointer_layout_set(const struct pointer_layout *layout,
                                       const struct learned_set *set,
                                       const struct learned_range *ranges, uint32_t count,
                                       bool inexact);

#endif
