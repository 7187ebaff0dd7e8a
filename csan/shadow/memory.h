/* The allocations of a program, and what becomes of their shadows when memory changes hands.
 *
 *   memory -> allocation (disjoint, by address) -> shadow
 *                                               -> blocks that a pool of the program has handed out
 *
 * Memory changes hands in three ways, each with its own order:
 *
 * - It is freed at the host (cuMemFree). The driver waits for the device, and the shadow is
 *   deleted.
 * - It is freed on a stream (cuMemFreeAsync). The allocation stays as a ghost, so that a use that
 *   is not ordered before the free is found. The driver's pool may give the address out again,
 *   ordered by dependencies that csan does not see. So a birth over a ghost takes over only what
 *   was not ordered before the free.
 * - A declared pool hands a block on. That orders nothing. Blocks are labels on the shadow of the
 *   allocation that they lie in, which stays. A conflict between two owners is a reuse race.
 *
 * An owner is a generation: one number for each birth of an allocation or a block. Memory in no
 * allocation (pageable host memory that copies touch) has one common shadow, by address, and
 * generation 0. The variables of modules also begin there, before csan has a name for them. They
 * take over what that shadow has of them.
 *
 * Not thread-safe: the context's lock covers every user. */
#ifndef CSAN_SHADOW_MEMORY_H
#define CSAN_SHADOW_MEMORY_H

#include "csan/base/hash.h"
#include "csan/shadow/freed.h"
#include "csan/shadow/shadow.h"

struct block {
    struct range range;
    uint32_t generation;
    uint32_t site;
};

/* What every access reads comes first. */
struct allocation {
    struct range range;
    enum csan_memory_kind kind;
    uint32_t generation;
    bool freed;       /* a ghost */
    bool pool_region; /* made for declared blocks outside of allocations; lives as long as they */
    bool aging;       /* in the list of those that may be dropped later */
    bool pooled;      /* blocks of it were handed out */
    struct past_access birth;
    struct range_map blocks; /* of struct block: the live ones */
    struct shadow shadow;
    struct past_access death;       /* of a ghost */
    struct snapshot death_snapshot; /* what the freeing lane knew */
    struct range born;              /* a ghost of which births may have taken parts since */
    struct allocation *prev, *next; /* in the aging list */
};

enum { MEMORY_CACHE_BITS = 12 };

struct memory {
    struct range_map map; /* of struct memory_entry */
    struct shadow anonymous;
    struct freed freed; /* where no allocation is, or no block in one that has blocks */
    uint32_t generation;
    uint64_t version; /* changes whenever an allocation leaves the map or shrinks */
    struct memory_cache_slot {
        uint64_t version;
        struct allocation *allocation;
    } cache[1 << MEMORY_CACHE_BITS];
    struct allocation *aging; /* utlist: allocations that may be dropped later, oldest first */
};

void memory_init(struct memory *memory);
void memory_clear(struct memory *memory);

struct allocation *memory_find_slow(struct memory *memory, uint64_t address);

/* Allocations are at least 256 bytes apart on a device, and pages apart when large. */
static inline struct memory_cache_slot *memory_cache_slot(struct memory *memory, uint64_t address)
{
    return &memory->cache[hash_spread(address >> 8) >> (64 - MEMORY_CACHE_BITS)];
}

/* Prefetches what memory_find and the shadow will read, of the allocation that was found there
 * last. It may be gone, but nothing is read here. (Always inline: gcc takes a function that only
 * prefetches for one that does nothing.) */
__attribute__((always_inline)) static inline void memory_prefetch(struct memory *memory,
                                                                  uint64_t address)
{
    uintptr_t last = (uintptr_t)memory_cache_slot(memory, address)->allocation;
    for (uintptr_t line = 0; line < offsetof(struct allocation, death); line += 64)
        __builtin_prefetch((const void *)(last + line));
}

/* What memory_find would find there, if that needs no search; NULL may mean that it needs one. */
static inline struct allocation *memory_recall(const struct memory *memory, uint64_t address)
{
    const struct memory_cache_slot *slot = memory_cache_slot((struct memory *)memory, address);
    bool holds = slot->version == memory->version && slot->allocation->range.start <= address &&
                 address < slot->allocation->range.end;
    return holds ? slot->allocation : NULL;
}
/* Prefetches what an access at the address will read, in two steps as in range_map.h. */
__attribute__((always_inline)) static inline void
allocation_prefetch_hints(const struct allocation *allocation, uint64_t address)
{
    range_map_prefetch(&allocation->blocks, address);
    range_map_prefetch(&allocation->shadow.cells, address);
}
__attribute__((always_inline)) static inline void
allocation_prefetch_elements(const struct allocation *allocation, uint64_t address)
{
    range_map_prefetch_element(&allocation->blocks, address);
    range_map_prefetch_element(&allocation->shadow.cells, address);
}

/* The allocation, live or ghost, that contains address; NULL: anonymous. */
static inline struct allocation *memory_find(struct memory *memory, uint64_t address)
{
    struct allocation *recalled = memory_recall(memory, address);
    return recalled ? recalled : memory_find_slow(memory, address);
}
/* The first allocation, live or ghost, that begins after address, and the last one that ends at or
 * before it; NULL: there is none. */
struct allocation *memory_next(const struct memory *memory, uint64_t address);
struct allocation *memory_previous(const struct memory *memory, uint64_t address);
/* Where the anonymous memory at address ends: at the next allocation or at `end`. */
uint64_t memory_gap_end(const struct memory *memory, uint64_t address, uint64_t end);

/* A birth over [base, base + bytes). Ghosts below hand over what was not ordered before their free.
 * Live allocations below end without a report. `birth` is stored. NULL when memory is short. */
struct allocation *memory_create(struct memory *memory, const struct order *order,
                                 enum csan_memory_kind kind, uint64_t base, uint64_t bytes,
                                 const struct past_access *birth);
/* Does a ghost lie in the range? */
bool memory_has_ghost(const struct memory *memory, uint64_t base, uint64_t bytes);

/* Take an allocation out of the map without destroying it, and put it back. If its place has been
 * taken, it cannot be put back: false, and the allocation is destroyed. */
void memory_detach(struct memory *memory, struct allocation *allocation);
bool memory_attach(struct memory *memory, struct allocation *allocation);
/* Ends an allocation that was taken out: it was freed. */
void memory_end(struct memory *memory, struct allocation *allocation,
                const struct past_access *death);
void allocation_destroy(struct allocation *allocation); /* detached ones only */
/* Before live blocks of the allocation go without a free: what was freed where those in the range
 * lie. */
void memory_forget_freed(struct memory *memory, const struct allocation *allocation,
                         struct range range);

/* Turn a live allocation into a ghost, and back. Takes over the snapshot. */
void memory_bury(struct memory *memory, const struct order *order, struct allocation *allocation,
                 const struct past_access *death, struct snapshot snapshot);
void memory_revive(struct memory *memory, struct allocation *allocation);

/* Declared blocks. Returns the block's allocation, with *block filled; NULL when memory is short or
 * there is no memory at that address. */
struct allocation *memory_pool_alloc(struct memory *memory, const struct order *order,
                                     uint64_t base, uint64_t bytes, uint32_t site);
/* `death`: lane, number and site of the block's end. False: there is no such block. */
bool memory_pool_free(struct memory *memory, uint64_t base, const struct past_access *death);
/* The declared block that contains address, or NULL. */
static inline const struct block *allocation_block(const struct allocation *allocation,
                                                   uint64_t address)
{
    return allocation->blocks.count ? range_map_find(&allocation->blocks, address) : NULL;
}

/* Totals for the statistics: a walk over every allocation. */
void memory_totals(const struct memory *memory, uint64_t *allocations, uint64_t *cells,
                   uint64_t *records);

#endif
