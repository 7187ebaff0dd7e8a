/* The named ranges in which ops were made. They are kept beside the ops, so that a range such as
 * "iteration 17" makes no site of its own. The newest RANGE_CHANGES changes from one path to
 * another are kept, in the order of the ops. Of older ops nothing is known. Not thread-safe: the
 * context's lock covers every user. */
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

/* Notes the ranges of the op of that number, which is larger than all before; NULL: it was in none.
 * True: the op before it was in others. */
bool range_history_note(struct range_history *history, uint64_t number, struct range_path *path);
/* "'forward' > 'layer 3'"; "" for none, or if it is not known any more. */
const char *range_history_find(const struct range_history *history, uint64_t number);
void range_history_clear(struct range_history *history);

#endif
