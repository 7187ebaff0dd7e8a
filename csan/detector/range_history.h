/* In which named ranges ops were made: remembered beside the ops, so that ranges such as "iteration
 * 17" make no sites of their own. Kept are the newest RANGE_CHANGES changes from one path to
 * another, in the order of the ops; of an older op nothing is said. Not thread-safe: the context's
 * lock covers every user. */
#ifndef CSAN_DETECTOR_RANGE_HISTORY_H
#define CSAN_DETECTOR_RANGE_HISTORY_H

#include "csan/detector/named_range.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { RANGE_CHANGES = 1 << 14 };

struct range_history {
    struct range_change *changes; /* a ring; NULL until the first */
    uint64_t count;               /* of changes ever */
};

/* The op of that number, larger than all before, was made in these ranges (NULL: in none). True:
 * the op before it was made in others. */
bool range_history_note(struct range_history *history, uint64_t number, struct range_path *path);
/* "'forward' > 'layer 3'"; "" for none, or when it is not known any more. */
const char *range_history_find(const struct range_history *history, uint64_t number);
void range_history_clear(struct range_history *history);

#endif
