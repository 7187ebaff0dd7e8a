/* Prefetches memory that a kernel's last launch read, and that the next one will probably read. A
 * framework empties the caches between launches, so a launch costs as many cache misses as lines
 * that it waits for.
 *
 * Notes and prefetches happen on any thread, without a lock. Nothing is read through the noted
 * addresses. So they may be of memory that is gone, or of two launches. */
#ifndef RUNTIME_HOOK_KERNEL_PREFETCH_H
#define RUNTIME_HOOK_KERNEL_PREFETCH_H

#include "runtime/access/access_set.h"

#include <stddef.h>
#include <stdint.h>

enum { AHEAD_LINE = 64, AHEAD_LINES = 44, AHEAD_PIECES = 14 };

/* Itself little to wait for. */
struct prefetch {
    uint64_t pieces[AHEAD_PIECES]; /* for each piece its first line and how many lines; 0 ends the
                                      list; atomic */
};

/* Notes pieces and lines, in order, as long as there is room. */
void prefetch_note(struct prefetch *ahead, const struct access_piece *pieces, size_t count);
void prefetch_begin(const struct prefetch *ahead);

#endif
