/* The allocations of a program, and what becomes of their shadows when memory changes hands.
 *
 *   memory -> allocation (disjoint, by address) -> shadow
 *                                               -> blocks that a pool of the program has handed out
 *
 * Three ways for memory to change hands, each with its own order:
 *  - freed at the host (cuMemFree): the driver waits for the device, the shadow dies with it;
 *  - freed on a stream (cuMemFreeAsync): the allocation stays as a ghost, so that a use not ordered
 *    before the free is found; the driver's pool may give the address out again through
 * dependencies nobody sees, so a birth over a ghost takes over only what was not ordered before the
 * free;
 *  - a declared pool: orders nothing. Blocks are labels on the shadow of the allocation
 *    they lie in, which simply stays; a conflict between two owners is a reuse race.
 *
 * An owner is a generation: one number for each birth of an allocation or a block. Memory in no
 * allocation (pageable host memory that copies touch) has one shadow of its own, by address, and
 * generation 0. So have the variables of modules, which were there before csan had a name for them:
 * they take over what that shadow has of them.
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
    bool freed; /* a ghost */
    bool
        pool_region; /* made for declared blocks that lie in no allocation; lives as long as they */
    bool aging;      /* in the list of those that may be dropped one day */
    bool pooled;     /* blocks of it were handed out */
    struct past_access birth;
    struct range_map blocks; /* of struct block: the live ones */
    struct shadow shadow;
    struct past_access death;       /* of a ghost */
    struct snapshot death_snapshot; /* what the freeing lane knew */
    struct range born;              /* of a ghost births may have taken parts since */
    struct allocation *prev, *next; /* in the aging list */
};

enum { MEMORY_CACHE_BITS = 12 };

struct memory {
    struct range_map map; /* of struct memory_entry */
    struct shadow anonymous;
    struct freed freed; /* where no allocation lies, and no block in an allocation that has some */
    uint32_t generation;
    uint64_t version; /* changes whenever an allocation leaves the map or shrinks */
    struct memory_cache_slot {
        uint64_t version;
        struct allocation *allocation;
    } cache[1 << MEMORY_CACHE_BITS];
    struct allocation *aging; /* utlist: what may be dropped one day, oldest first */
};

void memory_init(struct memory *memory);
void memory_clear(struct memory *memory);

struct allocation *memory_find_slow(struct memory *memory, uint64_t address);

/* Allocations are at least 256 bytes apart on a device, and pages apart when large. */
static inline struct memory_cache_slot *memory_cache_slot(struct memory *memory, uint64_t address)
{
    return &memory->cache[hash_spread(address >> 8) >> (64 - MEMORY_CACHE_BITS)];
}

/* What memory_find and the shadow are about to read, of the allocation that was found there last:
 * it may be gone, and nothing is read here. (Always inline: gcc takes a function that only
 * prefetches for one that does nothing.) */
__attribute__((always_inline)) static inline void memory_prefetch(struct memory *memory,
                                                                  uint64_t address)
{
    uintptr_t last = (uintptr_t)memory_cache_slot(memory, address)->allocation;
    for (uintptr_t line = 0; line < offsetof(struct allocation, death); line += 64)
        __builtin_prefetch((const void *)(last + line));
}

/* The allocation that memory_find finds there without a search; NULL may mean that it has to. */
static inline struct allocation *memory_recall(const struct memory *memory, uint64_t address)
{
    const struct memory_cache_slot *slot = memory_cache_slot((struct memory *)memory, address);
    bool holds = slot->version == memory->version && slot->allocation->range.start <= address &&
                 address < slot->allocation->range.end;
    return holds ? slot->allocation : NULL;
}
/* What touching the address will read, in two steps, as range_map.h has them. */
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
/* The first allocation, live or ghost, that begins behind address, and the last that ends before
 * it or there; NULL: there is none. */
struct allocation *memory_next(const struct memory *memory, uint64_t address);
struct allocation *memory_previous(const struct memory *memory, uint64_t address);
/* Where the anonymous memory at address ends: at the next allocation or at `end`. */
uint64_t memory_gap_end(const struct memory *memory, uint64_t address, uint64_t end);

/* A birth over [base, base + bytes): ghosts underneath hand over what was not ordered before their
 * free, live allocations underneath end silently. `birth` is stored. NULL when memory is short. */
struct allocation *memory_create(struct memory *memory, const struct order *order,
                                 enum csan_memory_kind kind, uint64_t base, uint64_t bytes,
                                 const struct past_access *birth);
/* Does a ghost lie in the range? */
bool memory_has_ghost(const struct memory *memory, uint64_t base, uint64_t bytes);

/* Take an allocation out of the map, whole, without destroying it; and put it back. Putting back
 * fails (false, the allocation is destroyed) when its place has been taken. */
void memory_detach(struct memory *memory, struct allocation *allocation);
bool memory_attach(struct memory *memory, struct allocation *allocation);
/* What was taken out is gone for good: it was freed. */
void memory_end(struct memory *memory, struct allocation *allocation,
                const struct past_access *death);
void allocation_destroy(struct allocation *allocation); /* detached ones only */

/* Turn a live allocation into a ghost, and back. Takes over the snapshot. */
void memory_bury(struct memory *memory, const struct order *order, struct allocation *allocation,
                 const struct past_access *death, struct snapshot snapshot);
void memory_revive(struct memory *memory, struct allocation *allocation);

/* Declared blocks. The block's allocation, with *block filled; NULL when memory is short or
 * unknown. */
struct allocation *memory_pool_alloc(struct memory *memory, const struct order *order,
                                     uint64_t base, uint64_t bytes, uint32_t site);
/* `death`: of the block's, that lane, number and site. False: there is no such block. */
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
