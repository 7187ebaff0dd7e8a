/* Prefetches for launches. See launch_prefetch.h. */
#include "runtime/hook/kernel/launch_prefetch.h"
#include "csan/base/hash.h"
#include "runtime/hook/kernel/prefetch.h"

/* Launches of one kernel of one grid are mostly alike. */
enum { FORESEEN_BITS = 10 };

struct launch_prefetch {
    _Alignas(AHEAD_LINE) uint64_t launch; /* hash of kernel and grid; atomic */
    const void *of;                       /* atomic */
    struct prefetch ahead;
};
_Static_assert(sizeof(struct launch_prefetch) == 2 * AHEAD_LINE,
               "it is waited for at every launch");

static struct launch_prefetch foreseen[1 << FORESEEN_BITS];

static uint64_t launch_hash(CUfunction function, const struct launch_accesses_launch *what)
{
    uint64_t hash = (uint64_t)(uintptr_t)function;
    hash = hash_mix(hash, what->grid[0] | (uint64_t)what->grid[1] << 32);
    return hash_mix(hash, what->grid[2] | (uint64_t)what->block[0] << 32);
}

static struct launch_prefetch *slot_of(uint64_t hash)
{
    return &foreseen[hash >> (64 - FORESEEN_BITS)];
}

struct launch_prefetch *launch_prefetch_find(CUfunction function,
                                             const struct launch_accesses_launch *what)
{
    struct launch_prefetch *slot = slot_of(launch_hash(function, what));
    for (size_t at = 0; at < sizeof *slot; at += AHEAD_LINE)
        __builtin_prefetch((const char *)slot + at);
    return slot;
}

void launch_prefetch_begin(const struct launch_prefetch *prefetch)
{
    prefetch_begin(&prefetch->ahead);
}

bool launch_prefetch_is_noted(CUfunction function, const struct launch_accesses_launch *what,
                              const void *of)
{
    uint64_t hash = launch_hash(function, what);
    const struct launch_prefetch *slot = slot_of(hash);
    return __atomic_load_n(&slot->launch, __ATOMIC_RELAXED) == hash &&
           __atomic_load_n(&slot->of, __ATOMIC_RELAXED) == of;
}

void launch_prefetch_note(CUfunction function, const struct launch_accesses_launch *what,
                          const void *of, const struct access_piece *pieces, size_t count)
{
    uint64_t hash = launch_hash(function, what);
    struct launch_prefetch *slot = slot_of(hash);
    __atomic_store_n(&slot->launch, hash, __ATOMIC_RELAXED);
    __atomic_store_n(&slot->of, of, __ATOMIC_RELAXED);
    prefetch_note(&slot->ahead, pieces, count);
}
