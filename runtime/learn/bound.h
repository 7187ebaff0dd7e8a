/* What holds whatever several launches touched, where what they touch depends on data. */
#ifndef RUNTIME_LEARN_BOUND_H
#define RUNTIME_LEARN_BOUND_H

#include "runtime/learn/learned_set.h"

/* A bound of both sets. An anchor and kind with equal bytes in both stays exact; the others get the
 * anchor's whole block. The set itself may be such a bound; `seen` is of one launch, or reanchored.
 * NULL when memory is short, or when either has ranges without an anchor: their addresses will
 * change. */
struct learned_set *learned_set_widen(struct learned_set *set, const struct learned_set *seen);
/* Whether a launch with that set may belong to the bound's launches: apart from whole blocks the
 * bytes are the same, and the bound's relations hold. False if that is not known, as when all
 * blocks are whole. */
bool learned_set_is_within(const struct learned_set *set, const struct learned_set *bound);
/* The same bytes in the same places. */
bool learned_bound_equal(const struct learned_set *a, const struct learned_set *b);

#endif
