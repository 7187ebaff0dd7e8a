/* Where anchors lie as far as a set's relations tell, and sets put there. For prediction.c,
 * agreement.c and bound.c.
 *
 * Anchors that are related lie in one region; districts are far apart. */
#ifndef RUNTIME_LEARN_POINTER_LAYOUT_H
#define RUNTIME_LEARN_POINTER_LAYOUT_H

#include "runtime/learn/learned_set.h"

#define REGION_SHIFT 44
#define REGION_HALF  (UINT64_C(1) << (REGION_SHIFT - 1))

struct pointer_layout {
    struct learn_launch launch; /* of the anchors; their blocks are the districts */
    struct learn_anchor anchors[LEARN_MAX_ANCHORS];
    uint16_t region[LEARN_MAX_ANCHORS];
};

/* Of all anchors that either set names, where the second was seen. NULL when memory is short, or
 * when they have no places. free() it. */
struct pointer_layout *pointer_layout_create(const struct learned_set *set,
                                             const struct learned_set *seen);
bool pointer_layout_hold(const struct pointer_layout *places,
                         const struct learned_relation *relation);

/* Whether the range stays in its anchor's region. */
bool pointer_layout_near(const struct learned_range *range);

/* What is not whole of the set, told anew from where the anchors lie. NULL: it cannot be. */
struct learned_set *pointer_layout_tell(const struct pointer_layout *places,
                                        const struct learned_set *set);
/* The ranges, with those of the set's relations that hold. NULL when memory is short. */
struct learned_set *pointer_layout_set(const struct pointer_layout *places,
                                       const struct learned_set *set,
                                       const struct learned_range *ranges, uint32_t count,
                                       bool inexact);

#endif
