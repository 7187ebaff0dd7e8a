/* In which order the entries of several recordings were replayed, and what a receive or a wait of
 * one of them was for: what a second reading needs to see them side by side without a detector. */
#ifndef CSAN_REPLAY_INTERLEAVING_H
#define CSAN_REPLAY_INTERLEAVING_H

#include "csan/replay/link_scan.h"

/* So many entries of a recording, one behind the other. */
struct interleaved {
    uint32_t process, entries;
};

struct interleaving_process {
    uint32_t *taken; /* as in struct link_process */
    struct link_source *wanted;
    size_t taken_count, wanted_count;
};

struct interleaving {
    struct interleaved *turns;
    size_t turn_count, turn_capacity;
    struct interleaving_process *processes; /* by the recording's number */
    size_t count;
};

/* With the links that `scan` matched, copied. NULL: memory is short. */
struct interleaving *interleaving_create(const struct link_scan *scan, size_t count);
void interleaving_destroy(struct interleaving *interleaving);
/* One entry of that process was replayed. Where memory is short, the end is missing. */
void interleaving_add(struct interleaving *interleaving, size_t process);

#endif
