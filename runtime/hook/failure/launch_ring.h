/* The newest kernel launches, so that the one that failed can be found among them: by its number,
 * or by kernel and sizes.
 *
 * A ring without a lock: a launch that is overwritten while it is looked at is not found. */
#ifndef RUNTIME_HOOK_FAILURE_LAUNCH_RING_H
#define RUNTIME_HOOK_FAILURE_LAUNCH_RING_H

#include <csan/csan.h>
#include "runtime/hook/failure/progress.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { LAUNCHED_MOST = 8192 };

struct launch_ring_entry {
    uint64_t turn;      /* of all launches, from 1 */
    uint64_t id;        /* as the source of traces numbers it; 0: not known */
    const char *symbol; /* the kernel's name in its module; NULL: not known. Lives on */
    csan_site site;
    csan_lane lane;
    uint64_t indices;           /* of index_range_note; 0: none */
    struct progress progress;   /* a graph's nodes have that of its launch */
    uint32_t grid[3], block[3]; /* grid[0] 0: not known, as of a graph's node */
};

/* A kernel was launched; `turn` is set here. Any thread. */
void launch_ring_note(const struct launch_ring_entry *launch);

struct launch_ring_query {
    uint64_t id;        /* 0: not known */
    const char *symbol; /* NULL: not known */
    const char *shown;  /* what sites call it */
    const uint32_t *grid, *block;
    uint64_t ordinal; /* which launch of the process it was; 0: not known. Decides between equals */
};
/* The names of the newest launches' kernels, each once, the newest first: at most `most`. Returns
 * how many. They live on. */
size_t launch_ring_newest(const char **names, size_t most);

/* Launches that had not finished: of each stream's, where that is known, the first. A graph's nodes
 * are one launch, and each has its entry. At most `most`; returns how many. */
size_t launch_ring_unfinished(struct launch_ring_entry *launches, size_t most);

/* How many launches were made behind it. */
uint64_t launch_ring_since(const struct launch_ring_entry *launch);

/* The launch that is meant, and how many were made since. False: it is not among the newest. */
bool launch_ring_find(const struct launch_ring_query *wanted, struct launch_ring_entry *found,
                      uint64_t *since);

#endif
