/* Whether one launch's set predicts what another launch touched.
 *
 * Two launches whose anchors lie differently may have sets that look different, and still have done
 * the same: of a launch in place a read and a write belong to one anchor, of one out of place to
 * two. So sets are compared as bytes: the ranges of one are moved to the anchors of the other and
 * assigned to anchors again (reanchored). The other's relations say where its anchors lie; anchors
 * without a relation are far apart.
 *
 * A set predicts another when both are the same bytes then. It is the more general of the two: the
 * relations of its own that do not hold there are refuted. (The reverse may be unknown: a launch in
 * place does not show which pointer is read.) An anchor of which the set has nothing refutes only
 * where nothing can hide it: what it leads to may be behind one anchor in the one launch, and
 * behind another in the other. Coarse sets, and those of memory without an anchor, predict only
 * what is equal. */
#ifndef RUNTIME_LEARN_PREDICTION_H
#define RUNTIME_LEARN_PREDICTION_H

#include "runtime/learn/learned_set.h"

bool learned_set_predicts(const struct learned_set *set, const struct learned_set *seen);

/* The set with those of its relations that hold where the other was seen. NULL when memory is
 * short. */
struct learned_set *learned_set_relax(struct learned_set *set, const struct learned_set *seen);

#endif
