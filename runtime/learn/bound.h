/* What holds whatever several launches touched, where what they touch depends on data. */
#ifndef RUNTIME_LEARN_BOUND_H
#define RUNTIME_LEARN_BOUND_H

#include "runtime/learn/learned_set.h"

/* A bound of both: what each anchor and kind has in both alike stays exact, all else is the
 * anchor's whole block. The set itself may be such a bound; `seen` is of one launch, or told from
 * some. NULL when memory is short, or when either has ranges without an anchor: nobody knows where
 * those will be next time. */
struct learned_set *learned_set_widen(struct learned_set *set, const struct learned_set *seen);
/* Whether a launch that touched that may be one of those that the bound is of: its wholes tell
 * nothing, the rest is the same, and the bound stands where the set does. False where there is no
 * telling, as from wholes alone. */
bool learned_set_is_within(const struct learned_set *set, const struct learned_set *bound);
/* The same bytes in the same places. */
bool learned_bound_equal(const struct learned_set *a, const struct learned_set *b);

#endif
