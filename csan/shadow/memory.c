#include "csan/shadow/memory.h"

#include <stdlib.h>
#include <utlist.h>

struct memory_entry {
    struct range range;
    struct allocation *allocation;
};

void memory_init(struct memory *memory)
{
    *memory = (struct memory){.version = 1};
    range_map_init(&memory->map, sizeof(struct memory_entry));
    shadow_init(&memory->anonymous);
    freed_init(&memory->freed);
}

void allocation_destroy(struct allocation *allocation)
{
    shadow_clear(&allocation->shadow);
    range_map_clear(&allocation->blocks);
    snapshot_release(&allocation->death_snapshot);
    free(allocation);
}

void memory_clear(struct memory *memory)
{
    struct range_cursor cursor = {0, 0};
    struct memory_entry *entry;
    for (; (entry = range_map_at(&memory->map, cursor));
         cursor = range_map_next(&memory->map, cursor))
        allocation_destroy(entry->allocation);
    range_map_clear(&memory->map);
    shadow_clear(&memory->anonymous);
    freed_clear(&memory->freed);
}

struct allocation *memory_find_slow(struct memory *memory, uint64_t address)
{
    const struct memory_entry *entry = range_map_find(&memory->map, address);
    if (!entry)
        return NULL;
    *memory_cache_slot(memory, address) =
        (struct memory_cache_slot){memory->version, entry->allocation};
    return entry->allocation;
}

uint64_t memory_gap_end(const struct memory *memory, uint64_t address, uint64_t end)
{
    const struct range *next = range_map_at(&memory->map, range_map_seek(&memory->map, address));
    return next && next->start < end ? next->start : end;
}

struct allocation *memory_next(const struct memory *memory, uint64_t address)
{
    const struct memory_entry *entry =
        range_map_at(&memory->map, range_map_seek(&memory->map, address));
    return entry ? entry->allocation : NULL;
}

struct allocation *memory_previous(const struct memory *memory, uint64_t address)
{
    const struct memory_entry *entry =
        range_map_before(&memory->map, range_map_seek(&memory->map, address));
    return entry ? entry->allocation : NULL;
}

/* ---- leaving the map */

void memory_forget_freed(struct memory *memory, const struct allocation *allocation,
                         struct range range)
{
    if (!allocation->blocks.count)
        return;
    struct range_cursor cursor = range_map_seek(&allocation->blocks, range.start);
    const struct block *block;
    for (; (block = range_map_at(&allocation->blocks, cursor)) && block->range.start < range.end;
         cursor = range_map_next(&allocation->blocks, cursor))
        freed_forget(&memory->freed, block->range);
}

static void aging_remove(struct memory *memory, struct allocation *allocation)
{
    if (!allocation->aging)
        return;
    DL_DELETE(memory->aging, allocation);
    allocation->aging = false;
}

static void aging_append(struct memory *memory, struct allocation *allocation)
{
    DL_APPEND(memory->aging, allocation);
    allocation->aging = true;
}

void memory_detach(struct memory *memory, struct allocation *allocation)
{
    struct range_cursor cursor = range_map_seek(&memory->map, allocation->range.start);
    range_map_remove(&memory->map, &cursor);
    aging_remove(memory, allocation);
    memory->version++;
}

static bool overlaps_any(const struct memory *memory, struct range range)
{
    const struct range *next =
        range_map_at(&memory->map, range_map_seek(&memory->map, range.start));
    return next && next->start < range.end;
}

bool memory_attach(struct memory *memory, struct allocation *allocation)
{
    struct range_cursor cursor = range_map_seek(&memory->map, allocation->range.start);
    struct memory_entry *entry = NULL;
    if (!overlaps_any(memory, allocation->range))
        entry = range_map_insert(&memory->map, &cursor, allocation->range);
    if (!entry) {
        allocation_destroy(allocation);
        return false;
    }
    entry->allocation = allocation;
    return true;
}

static bool is_at_host(const struct allocation *allocation)
{
    return allocation->kind == CSAN_MEMORY_HOST || allocation->kind == CSAN_MEMORY_MANAGED;
}

void memory_end(struct memory *memory, struct allocation *allocation,
                const struct past_access *death)
{
    if (allocation->kind != CSAN_MEMORY_VARIABLE)
        freed_add(&memory->freed, allocation->range, is_at_host(allocation), allocation->birth.site,
                  death);
    allocation_destroy(allocation);
}

/* ---- growing old: what nobody can race with any more is dropped, a few at a time */

static void age(struct memory *memory, const struct order *order)
{
    enum { LOOKS = 4 };
    for (int i = 0; i < LOOKS && memory->aging; i++) {
        struct allocation *allocation = memory->aging;
        aging_remove(memory, allocation);
        if (!allocation->freed && allocation->blocks.count)
            continue; /* a pool region in use again */
        bool over = allocation->freed ? order_is_over(order, allocation->death.epoch)
                                      : shadow_sweep(&allocation->shadow, order);
        if (over) {
            memory_detach(memory, allocation);
            if (allocation->freed)
                memory_end(memory, allocation, &allocation->death);
            else
                allocation_destroy(allocation);
        } else {
            aging_append(memory, allocation);
        }
    }
}

/* ---- births */

struct survivors {
    const struct order *order;
    const struct snapshot *death; /* NULL: whatever the host does not know */
};

static bool survives(void *user, const struct past_access *past)
{
    const struct survivors *survivors = user;
    if (order_is_over(survivors->order, past->epoch))
        return false;
    return !survivors->death || !snapshot_knows(survivors->death, past->epoch);
}

static struct allocation *allocation_create(struct memory *memory, enum csan_memory_kind kind,
                                            struct range range)
{
    struct allocation *allocation = calloc(1, sizeof(*allocation));
    if (!allocation)
        return NULL;
    allocation->range = range;
    allocation->born = range;
    allocation->kind = kind;
    allocation->generation = kind == CSAN_MEMORY_VARIABLE ? 0 : ++memory->generation;
    shadow_init(&allocation->shadow);
    range_map_init(&allocation->blocks, sizeof(struct block));
    return allocation;
}

/* What is left of a ghost beside a birth stays a ghost. */
static void keep_remainder(struct memory *memory, struct allocation *ghost, struct range part)
{
    if (part.start >= part.end)
        return;
    struct allocation *rest = allocation_create(memory, ghost->kind, part);
    if (!rest)
        return;
    rest->born = ghost->born;
    rest->generation = ghost->generation;
    rest->freed = true;
    rest->birth = ghost->birth;
    rest->death = ghost->death;
    rest->death_snapshot = snapshot_share(ghost->death_snapshot);
    if (memory_attach(memory, rest))
        aging_append(memory, rest);
}

/* Clear the range of what was there, handing over to `heir` what may still race with it. */
static void inherit(struct memory *memory, const struct order *order, struct allocation *heir)
{
    if (!heir->pool_region)
        freed_forget(&memory->freed, heir->range);
    for (;;) {
        struct memory_entry *entry =
            range_map_at(&memory->map, range_map_seek(&memory->map, heir->range.start));
        if (!entry || entry->range.start >= heir->range.end)
            break;
        struct allocation *former = entry->allocation;
        memory_detach(memory, former);
        if (former->freed || former->pool_region) {
            struct survivors survivors = {order, former->freed ? &former->death_snapshot : NULL};
            uint64_t start =
                heir->range.start > former->range.start ? heir->range.start : former->range.start;
            uint64_t end =
                heir->range.end < former->range.end ? heir->range.end : former->range.end;
            shadow_move(&heir->shadow, &former->shadow, start, end, survives, &survivors);
        }
        memory_forget_freed(memory, former, former->range);
        if (former->freed) {
            keep_remainder(memory, former, (struct range){former->range.start, heir->range.start});
            keep_remainder(memory, former, (struct range){heir->range.end, former->range.end});
        }
        allocation_destroy(former);
    }
    /* Registered memory, a pool's region whose blocks the program declares, and a variable may have
     * been accessed before csan learned of them. */
    if (heir->kind == CSAN_MEMORY_HOST || heir->kind == CSAN_MEMORY_VARIABLE || heir->pool_region) {
        struct survivors survivors = {order, NULL};
        shadow_move(&heir->shadow, &memory->anonymous, heir->range.start, heir->range.end, survives,
                    &survivors);
    }
}

struct allocation *memory_create(struct memory *memory, const struct order *order,
                                 enum csan_memory_kind kind, uint64_t base, uint64_t bytes,
                                 const struct past_access *birth)
{
    struct allocation *allocation =
        allocation_create(memory, kind, (struct range){base, base + bytes});
    if (!allocation)
        return NULL;
    allocation->birth = *birth;
    allocation->birth.generation = allocation->generation;
    inherit(memory, order, allocation);
    return memory_attach(memory, allocation) ? allocation : NULL;
}

bool memory_has_ghost(const struct memory *memory, uint64_t base, uint64_t bytes)
{
    struct range_cursor cursor = range_map_seek(&memory->map, base);
    const struct memory_entry *entry;
    for (; (entry = range_map_at(&memory->map, cursor)) && entry->range.start < base + bytes;
         cursor = range_map_next(&memory->map, cursor))
        if (entry->allocation->freed)
            return true;
    return false;
}

void memory_bury(struct memory *memory, const struct order *order, struct allocation *allocation,
                 const struct past_access *death, struct snapshot snapshot)
{
    age(memory, order);
    allocation->freed = true;
    allocation->death = *death;
    allocation->death_snapshot = snapshot;
    aging_remove(memory, allocation);
    aging_append(memory, allocation);
}

void memory_revive(struct memory *memory, struct allocation *allocation)
{
    aging_remove(memory, allocation); /* what lives is not dropped */
    allocation->freed = false;
    snapshot_release(&allocation->death_snapshot);
}

/* ---- declared blocks */

/* Blocks that lie in no allocation get a region made for them; one that reaches over the edge of a
 * former region takes it in. */
static struct allocation *region_for(struct memory *memory, const struct order *order,
                                     struct range range)
{
    struct allocation *around = memory_find(memory, range.start);
    if (around && !around->freed && range.end <= around->range.end)
        return around;
    struct allocation *region = allocation_create(memory, CSAN_MEMORY_DEVICE, range);
    if (!region)
        return NULL;
    region->pool_region = true;
    struct range_cursor cursor = range_map_seek(&memory->map, range.start);
    const struct memory_entry *entry;
    for (; (entry = range_map_at(&memory->map, cursor)) && entry->range.start < range.end;
         cursor = range_map_next(&memory->map, cursor)) {
        if (!entry->allocation->pool_region)
            continue;
        if (entry->range.start < region->range.start)
            region->range.start = entry->range.start;
        if (entry->range.end > region->range.end)
            region->range.end = entry->range.end;
        region->born = region->range;
        /* the other live blocks of a region taken in go on */
        struct range_cursor at = {0, 0};
        const struct block *block;
        for (; (block = range_map_at(&entry->allocation->blocks, at));
             at = range_map_next(&entry->allocation->blocks, at)) {
            struct range_cursor place = range_map_seek(&region->blocks, block->range.start);
            struct block *moved = range_map_insert(&region->blocks, &place, block->range);
            if (moved)
                *moved = *block;
        }
    }
    inherit(memory, order, region);
    return memory_attach(memory, region) ? region : NULL;
}

struct allocation *memory_pool_alloc(struct memory *memory, const struct order *order,
                                     uint64_t base, uint64_t bytes, uint32_t site)
{
    age(memory, order);
    struct range range = {base, base + bytes};
    struct allocation *allocation = region_for(memory, order, range);
    if (!allocation)
        return NULL;
    /* Of blocks that overlap it the free was not seen. */
    memory_forget_freed(memory, allocation, range);
    struct range_cursor cursor = range_map_make_room(&allocation->blocks, range);
    struct block *block = range_map_insert(&allocation->blocks, &cursor, range);
    if (!block)
        return NULL;
    block->generation = ++memory->generation;
    block->site = site;
    allocation->pooled = true;
    return allocation;
}

bool memory_pool_free(struct memory *memory, uint64_t base, const struct past_access *death)
{
    struct allocation *allocation = memory_find(memory, base);
    if (!allocation)
        return false;
    struct range_cursor cursor = range_map_seek(&allocation->blocks, base);
    const struct block *block = range_map_at(&allocation->blocks, cursor);
    if (!block || block->range.start != base)
        return false;
    freed_add(&memory->freed, block->range, is_at_host(allocation), block->site, death);
    range_map_remove(&allocation->blocks, &cursor);
    if (allocation->pool_region && !allocation->blocks.count && !allocation->aging)
        aging_append(memory, allocation);
    return true;
}

void memory_totals(const struct memory *memory, uint64_t *allocations, uint64_t *cells,
                   uint64_t *records)
{
    *allocations = 0;
    *cells = shadow_cell_count(&memory->anonymous);
    *records = shadow_record_count(&memory->anonymous);
    struct range_cursor cursor = {0, 0};
    const struct memory_entry *entry;
    for (; (entry = range_map_at(&memory->map, cursor));
         cursor = range_map_next(&memory->map, cursor)) {
        *allocations += !entry->allocation->freed;
        *cells += shadow_cell_count(&entry->allocation->shadow);
        *records += shadow_record_count(&entry->allocation->shadow);
    }
}
