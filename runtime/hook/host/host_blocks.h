/* Blocks of memory that host and device share: pinned, registered and managed. Who launches a
 * kernel asks, without a lock, whether a parameter points into one: such work is guarded within its
 * call. The rest may be deferred, as without guarded pages. */
#ifndef RUNTIME_HOOK_HOST_HOST_BLOCKS_H
#define RUNTIME_HOOK_HOST_HOST_BLOCKS_H

#include "csan/base/range_map.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A block is born; memory that ends, in whole or in part. Thread-safe. */
void host_blocks_add(struct range block);
void host_blocks_remove(struct range bytes);

/* Whether the address is in one. True, too, while the blocks change, and from when there were more
 * than can be kept. */
bool host_blocks_has(uint64_t address);

/* From the first block's start to the last one's end; 0 and 0 without blocks; all memory from when
 * there were more than can be kept.
 *
 * Each of the two is atomic, and their order does not matter. While a block lives, every value that
 * `start` is given is at or below it, and every value of `end` is at or above its end. Who has
 * memory in the block comes after its birth, and so reads that value of each, or a later one. So
 * neither alone can deny the block, even if one is older than the other. */
extern struct host_blocks_hull {
    uint64_t start, end;
} host_blocks_hull __attribute__((visibility("hidden")));

/* False: none of the bytes is in a block. `end` comes first: without blocks nothing is below it. */
static inline bool host_blocks_may_have(struct range bytes)
{
    return bytes.start < __atomic_load_n(&host_blocks_hull.end, __ATOMIC_RELAXED) &&
           __atomic_load_n(&host_blocks_hull.start, __ATOMIC_RELAXED) < bytes.end;
}

static inline bool host_blocks_may_have_address(uint64_t address)
{
    return address < __atomic_load_n(&host_blocks_hull.end, __ATOMIC_RELAXED) &&
           __atomic_load_n(&host_blocks_hull.start, __ATOMIC_RELAXED) <= address;
}

/* Whether any of the 8-byte words is such an address. `bytes`: of `words`, a multiple of 8 or less
 * than the next. */
bool host_blocks_any(const void *words, size_t bytes);

#endif
