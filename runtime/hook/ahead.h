/* Lines of the cache that a kernel's last launch read, and the next one probably will: what a
 * launch costs between those of a framework, which empties the caches, is lines that it waits for.
 *
 * They are noted with the kernel locked and asked for without: nothing is read by what is noted, so
 * it may be of memory that is no more. */
#ifndef RUNTIME_HOOK_AHEAD_H
#define RUNTIME_HOOK_AHEAD_H

#include "runtime/access/access_set.h"

#include <stddef.h>

enum { AHEAD_LINE = 64, AHEAD_LINES = 44 };

struct ahead {
    const void *lines[AHEAD_LINES]; /* atomic; then NULL */
};

/* As many lines of the pieces, in order, as there is room for. */
void ahead_note(struct ahead *ahead, const struct access_piece *pieces, size_t count);
void ahead_prefetch(const struct ahead *ahead);

#endif
