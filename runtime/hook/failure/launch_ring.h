/* The newest kernel launches, so that a failed one can be found among them: by its number, or by
 * kernel and sizes.
 *
 * They are in a ring without a lock. A launch that is overwritten while it is read is not found. */
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
    uint64_t id;        /* its number in the source of traces; 0: not known */
    const char *symbol; /* the kernel's name in its module, which stays valid; NULL: not known */
    csan_site site;
    csan_lane lane;
    uint64_t indices;           /* of index_range_note; 0: none */
    struct progress progress;   /* a graph's nodes have that of its launch */
    bool failed;                /* csan itself waited for it, and got the error */
    uint32_t grid[3], block[3]; /* grid[0] is 0 if it is not known, as for a graph's node */
};

/* A kernel was launched; sets `turn`. Any thread. */
void launch_ring_note(const struct launch_ring_entry *launch);

struct launch_ring_query {
    uint64_t id;        /* 0: not known */
    const char *symbol; /* NULL: not known */
    const char *shown;  /* what sites call it */
    const uint32_t *grid, *block;
    uint64_t ordinal; /* which launch of the process it was; 0: not known. Decides between several
                         that match */
};
/* Lists the names of the newest launches' kernels, each once, the newest first, `most` at most.
 * Returns how many. The names stay valid. */
size_t launch_ring_newest(const char **names, size_t most);

/* Lists launches that had not finished: for each stream whose progress is known, the first. A
 * graph's nodes are one launch, and each has an entry. A launch that csan saw fail is the only one
 * listed. At most `most`; returns how many. */
size_t launch_ring_unfinished(struct launch_ring_entry *launches, size_t most);

/* How many launches were made behind it. */
uint64_t launch_ring_since(const struct launch_ring_entry *launch);

/* The launch that matches, and how many were made after it. False: it is not among the newest. */
bool launch_ring_find(const struct launch_ring_query *wanted, struct launch_ring_entry *found,
                      uint64_t *since);

#endif
