/* The memory that a process has in common with others, at its own addresses, and where all of them
 * together have it: at a *unified* address, which the detector of `csan merge --order` knows. Not
 * thread-safe. */
#ifndef CSAN_REPLAY_SHARED_MEMORY_H
#define CSAN_REPLAY_SHARED_MEMORY_H

#include "csan/base/range_map.h"

#include <csan/csan.h>

struct shared_memory {
    struct range_map ranges; /* by the process's own addresses */
};

void shared_memory_init(struct shared_memory *memory);
void shared_memory_clear(struct shared_memory *memory);

/* [base, base + bytes) of the process is [unified, unified + bytes) of all. What was there before
 * ends. False: memory is short, or the range is empty or wraps around. */
bool shared_memory_add(struct shared_memory *memory, uint64_t base, uint64_t bytes,
                       uint64_t unified);
/* What overlaps [base, base + bytes) ends; if `bytes` is 0, the range that begins at `base`. */
void shared_memory_remove(struct shared_memory *memory, uint64_t base, uint64_t bytes);
/* Where the process's byte lies for all. False: it is not shared. */
bool shared_memory_find(const struct shared_memory *memory, uint64_t address, uint64_t *unified);

static inline bool shared_memory_is_empty(const struct shared_memory *memory)
{
    return memory->ranges.count == 0;
}

/* Gives `take` the parts of the access that lie in shared memory, at unified addresses; the array
 * of dims stays the access's. A part of a strided access that lies in several ranges, or beside
 * one, is bounded. False: `take` returned false. */
typedef bool shared_memory_take(void *user, const struct csan_access *part);
bool shared_memory_translate(const struct shared_memory *memory, const struct csan_access *access,
                             shared_memory_take *take, void *user);

#endif
