/* See bounds.h. */
#include "csan/detector/bounds.h"

#include <string.h>

enum { VECTOR_BYTES = 16 };

/* Memory whose ends are those of a buffer of the program's. */
struct owner {
    struct range range;
    uint32_t site;
    bool known, block;
};

/* Made by a call that says how long one buffer is: neither mapped piece by piece nor registered. */
static bool has_ends(const struct site_table *sites, const struct allocation *allocation)
{
    const struct site *birth = site_table_get(sites, allocation->birth.site);
    const bool kind = allocation->kind == CSAN_MEMORY_DEVICE ||
                      allocation->kind == CSAN_MEMORY_STREAM ||
                      allocation->kind == CSAN_MEMORY_MANAGED;
    if (!kind || !birth || allocation->pool_region)
        return false;
    return strncmp(birth->name, "cuMemAlloc", strlen("cuMemAlloc")) == 0;
}

static struct owner owner_at(struct memory *memory, const struct site_table *sites,
                             const struct bounds_op *op, uint64_t address)
{
    const struct allocation *allocation = memory_find(memory, address);
    if (!allocation || allocation->freed)
        return (struct owner){.known = false};
    const struct block *block = op->node ? NULL : allocation_block(allocation, address);
    if (block)
        return (struct owner){block->range, block->site, true, true};
    return (struct owner){allocation->born, allocation->birth.site, has_ends(sites, allocation),
                          false};
}

/* Whose memory the byte is that should not be touched. */
static void find_neighbour(struct memory *memory, const struct bounds_op *op, uint64_t address,
                           struct bounds_fault *fault)
{
    const struct allocation *allocation = memory_find(memory, address);
    if (!allocation || allocation->freed)
        return;
    const struct block *block = op->node ? NULL : allocation_block(allocation, address);
    if (!block && fault->owner.start >= allocation->born.start &&
        fault->owner.end <= allocation->born.end)
        return; /* what of the owner's allocation is no block */
    fault->neighbour = block ? block->range : allocation->born;
    fault->neighbour_site = block ? block->site : allocation->birth.site;
}

/* Whether the access set names the pointer of each access. A set that was traced or learned has
 * addresses alone: there two buffers that adjoin look like one access. */
static bool names_pointers(enum csan_level level)
{
    return level == CSAN_LEVEL_RANGES || level == CSAN_LEVEL_LIBRARY ||
           level == CSAN_LEVEL_ANNOTATED;
}

/* `at`: the first of the bytes that may be the neighbour's. */
static bool is_out_of_bounds(struct memory *memory, const struct bounds_op *op,
                             const struct owner *owner, uint64_t at, struct bounds_fault *fault)
{
    fault->owner = owner->range;
    fault->birth_site = owner->site;
    find_neighbour(memory, op, at, fault);
    return names_pointers(op->level) || fault->neighbour.end == 0;
}

/* The first run behind the end. Of a read that loads whole vectors, the first that goes on behind
 * the last vector. */
static bool run_behind(const struct lmad *lmad, uint64_t end, uint64_t vector, struct range *run)
{
    return lmad_next_run(lmad, end, &run->start, &run->end) &&
           (run->end > vector || lmad_next_run(lmad, vector, &run->start, &run->end));
}

static bool is_behind(struct memory *memory, const struct bounds_op *op, const struct lmad *lmad,
                      enum csan_access_kind kind, const struct owner *owner,
                      struct bounds_fault *fault)
{
    const uint64_t end = owner->range.end;
    const uint64_t vector = kind == CSAN_READ && !op->refused
                                ? (end + VECTOR_BYTES - 1) & ~(uint64_t)(VECTOR_BYTES - 1)
                                : end;
    if (lmad->base + lmad->span <= vector || !run_behind(lmad, end, vector, &fault->bytes))
        return false;
    fault->where = CSAN_WHERE_BEHIND;
    fault->distance = fault->bytes.start - end;
    /* The rest of a vector and the neighbour's own bytes look like one run in a trace. */
    const bool two = !names_pointers(op->level) && fault->bytes.start < vector;
    return is_out_of_bounds(memory, op, owner, two ? vector : fault->bytes.start, fault);
}

static void fill_freed(struct bounds_fault *fault, struct range bytes,
                       const struct freed_range *freed)
{
    fault->freed = true;
    fault->bytes = bytes;
    fault->owner = freed->whole;
    fault->birth_site = freed->birth_site;
    fault->where = CSAN_WHERE_INSIDE;
    fault->distance = bytes.start - freed->whole.start;
    fault->death = freed->death;
}

static bool is_freed(const struct memory *memory, struct range bytes, bool in_pool,
                     struct bounds_fault *fault)
{
    const struct freed_range *freed = freed_find(&memory->freed, bytes.start);
    if (!freed || bytes.end > freed->range.end || (freed->at_host && !in_pool))
        return false;
    fill_freed(fault, bytes, freed);
    return true;
}

static bool is_before(struct memory *memory, const struct site_table *sites,
                      const struct bounds_op *op, struct range bytes, struct bounds_fault *fault)
{
    const uint64_t start = memory_gap_end(memory, bytes.start, bytes.end);
    if (start >= bytes.end)
        return false; /* memory of which nothing is known */
    const struct owner owner = owner_at(memory, sites, op, start);
    if (!owner.known || owner.range.start != start)
        return false;
    fault->bytes = (struct range){bytes.start, start};
    fault->where = CSAN_WHERE_BEFORE;
    fault->distance = start - bytes.start;
    return is_out_of_bounds(memory, op, &owner, bytes.start, fault);
}

bool bounds_check(struct memory *memory, const struct site_table *sites, const struct bounds_op *op,
                  const struct lmad *lmad, enum csan_access_kind kind, struct bounds_fault *fault)
{
    const struct range bytes = {lmad->base, lmad->base + lmad->span};
    *fault = (struct bounds_fault){.freed = false};
    const struct allocation *allocation = memory_find(memory, bytes.start);
    if (!allocation) {
        const bool found =
            is_freed(memory, bytes, false, fault) || is_before(memory, sites, op, bytes, fault);
        fault->unplaced = !found;
        return found;
    }
    if (allocation->freed) /* the shadow knows of these */
        return false;
    const struct owner owner = owner_at(memory, sites, op, bytes.start);
    if (!owner.block && !op->node && allocation->pooled &&
        !range_map_overlaps(&allocation->blocks, bytes) && is_freed(memory, bytes, true, fault))
        return true;
    return owner.known && is_behind(memory, op, lmad, kind, &owner, fault);
}

bool bounds_check_wrong_pointer(struct memory *memory, const struct site_table *sites,
                                const struct bounds_op *op, uint64_t pointer, struct range bytes,
                                struct bounds_fault *fault)
{
    const struct owner owner = owner_at(memory, sites, op, pointer);
    *fault = (struct bounds_fault){.freed = false};
    if (!owner.known || freed_find(&memory->freed, bytes.start) ||
        memory_gap_end(memory, bytes.start, bytes.end) < bytes.end)
        return false;
    fault->bytes = bytes;
    fault->owner = owner.range;
    fault->birth_site = owner.site;
    if (bytes.end <= owner.range.start) {
        fault->where = CSAN_WHERE_BEFORE;
        fault->distance = owner.range.start - bytes.start;
    } else if (bytes.start >= owner.range.end) {
        fault->where = CSAN_WHERE_BEHIND;
        fault->distance = bytes.start - owner.range.end;
    }
    return fault->where != CSAN_WHERE_UNKNOWN;
}

bool bounds_check_free(struct memory *memory, uint64_t address, struct bounds_fault *fault)
{
    const struct range bytes = {address, address + 1};
    const struct allocation *allocation = memory_find(memory, address);
    const struct freed_range *freed = freed_find(&memory->freed, address);
    *fault = (struct bounds_fault){.freed = false};
    if (!allocation && freed) {
        fill_freed(fault, bytes, freed);
        return true;
    }
    if (!allocation || (!allocation->freed && allocation->born.start == address))
        return false;
    fault->freed = allocation->freed;
    fault->bytes = bytes;
    fault->owner = allocation->born;
    fault->birth_site = allocation->birth.site;
    fault->where = CSAN_WHERE_INSIDE;
    fault->distance = address - allocation->born.start;
    fault->death = allocation->death;
    return true;
}
