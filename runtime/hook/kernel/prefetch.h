/* Memory that a kernel's last launch read, and the next one probably will: what a launch costs
 * between those of a framework, which empties the caches, is lines of the cache that it waits for.
 *
 * Noted and asked for on any thread, without a lock: nothing is read by what is noted, so it may be
 * of memory that is no more, or of two launches. */
#ifndef RUNTIME_HOOK_KERNEL_PREFETCH_H
#define RUNTIME_HOOK_KERNEL_PREFETCH_H

#include "runtime/access/access_set.h"

#include <stddef.h>
#include <stdint.h>

enum { AHEAD_LINE = 64, AHEAD_LINES = 44, AHEAD_PIECES = 14 };

/* Itself little to wait for. */
struct prefetch {
    uint64_t pieces[AHEAD_PIECES]; /* of each the first line, and how many; then 0; atomic */
};

/* As many pieces and lines of them, in order, as there is room for. */
void prefetch_note(struct prefetch *ahead, const struct access_piece *pieces, size_t count);
void prefetch_begin(const struct prefetch *ahead);

#endif
