/* See nearest_block.h. */
#include "csan/detector/nearest_block.h"

enum { NEAR_BYTES = 1 << 20 };

/* What is known of memory, whoever owns it. */
struct owner {
    struct range range;
    uint32_t birth_site;
    bool freed;
    struct past_access death;
};

static uint64_t length_of(struct range range)
{
    return range.end - range.start;
}

static void take(struct nearest_block *found, const struct owner *owner, enum csan_where where,
                 uint64_t distance)
{
    const uint64_t most =
        length_of(owner->range) > NEAR_BYTES ? length_of(owner->range) : NEAR_BYTES;
    if (where != CSAN_WHERE_INSIDE &&
        (distance > most || (found->where && distance >= found->distance)))
        return;
    *found = (struct nearest_block){.where = where,
                                    .distance = distance,
                                    .owner = owner->range,
                                    .birth_site = owner->birth_site,
                                    .freed = owner->freed,
                                    .death = owner->death};
}

/* By how far the address is from it. */
static void consider(struct nearest_block *found, const struct owner *owner, uint64_t address)
{
    if (address < owner->range.start)
        take(found, owner, CSAN_WHERE_BEFORE, owner->range.start - address);
    else if (address >= owner->range.end)
        take(found, owner, CSAN_WHERE_BEHIND, address - owner->range.end);
    else
        take(found, owner, CSAN_WHERE_INSIDE, address - owner->range.start);
}

static struct owner of_allocation(const struct allocation *allocation)
{
    return (struct owner){allocation->born, allocation->birth.site, allocation->freed,
                          allocation->death};
}

static void consider_freed(struct nearest_block *found, const struct freed_range *freed,
                           uint64_t address)
{
    consider(found, &(struct owner){freed->whole, freed->birth_site, true, freed->death}, address);
}

static void consider_block(struct nearest_block *found, const struct block *block, uint64_t address)
{
    if (block)
        consider(found, &(struct owner){.range = block->range, .birth_site = block->site}, address);
}

static void consider_blocks(struct nearest_block *found, const struct allocation *allocation,
                            uint64_t address)
{
    const struct range_cursor next = range_map_seek(&allocation->blocks, address);
    consider_block(found, range_map_at(&allocation->blocks, next), address);
    consider_block(found, range_map_before(&allocation->blocks, next), address);
}

static struct nearest_block inside(struct memory *memory, struct allocation *allocation,
                                   uint64_t address)
{
    struct nearest_block found = {.where = CSAN_WHERE_UNKNOWN};
    const struct freed_range *freed = NULL;
    const struct block *block = allocation_block(allocation, address);
    if (block)
        consider_block(&found, block, address);
    else if (allocation->pooled && (freed = freed_find(&memory->freed, address)) != NULL)
        consider_freed(&found, freed, address);
    else if (allocation->blocks.count)
        consider_blocks(&found, allocation, address);
    if (!found.where) {
        const struct owner owner = of_allocation(allocation);
        consider(&found, &owner, address);
    }
    return found;
}

struct nearest_block nearest_block_of(struct memory *memory, uint64_t address)
{
    struct nearest_block found = {.where = CSAN_WHERE_UNKNOWN};
    struct allocation *allocation = memory_find(memory, address);
    if (allocation)
        return inside(memory, allocation, address);
    const struct freed_range *freed = freed_find(&memory->freed, address);
    if (freed) {
        consider_freed(&found, freed, address);
        return found;
    }
    const struct allocation *beside[2] = {memory_next(memory, address),
                                          memory_previous(memory, address)};
    for (int i = 0; i < 2; i++)
        if (beside[i]) {
            const struct owner owner = of_allocation(beside[i]);
            consider(&found, &owner, address);
        }
    return found;
}
