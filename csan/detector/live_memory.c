/* The program's memory. See live_memory.h. */
#include "csan/detector/live_memory.h"

enum { PAGE_BITS = 64 * LIVE_MEMORY_PAGE_WORDS };

void live_memory_init(struct live_memory *live)
{
    *live = (struct live_memory){0};
    range_map_init(&live->allocations, sizeof(struct live_memory_entry));
    range_map_init(&live->blocks, sizeof(struct live_memory_block));
}

void live_memory_clear(struct live_memory *live)
{
    range_map_clear(&live->allocations);
    range_map_clear(&live->blocks);
}

/* ---- Pages */

static void pages_add(struct live_memory *live, struct range range)
{
    uint64_t first = range.start >> LIVE_MEMORY_PAGE_SHIFT,
             last = (range.end - 1) >> LIVE_MEMORY_PAGE_SHIFT;
    if (last - first > PAGE_BITS) /* more would set no more bits, but take for ever */
        last = first + PAGE_BITS;
    for (uint64_t page = first; page <= last; page++) {
        uint32_t hash = live_memory_page(page);
        __atomic_fetch_or(&live->pages[hash / 64], UINT64_C(1) << hash % 64, __ATOMIC_RELAXED);
    }
}

/* Whoever sees only one of them change knows no address between. */
static void span_add(struct live_memory *live, struct range range)
{
    if (!live->highest || range.start < live->lowest)
        __atomic_store_n(&live->lowest, range.start, __ATOMIC_RELAXED);
    if (range.end > live->highest)
        __atomic_store_n(&live->highest, range.end, __ATOMIC_RELAXED);
}

/* ---- Allocations and blocks */

/* The element that begins there, or NULL. */
static const void *begins_at(const struct range_map *map, uint64_t base,
                             struct range_cursor *cursor)
{
    *cursor = range_map_seek(map, base);
    const struct range *found = range_map_at(map, *cursor);
    return found && found->start == base ? found : NULL;
}

/* Blocks of allocations that go are in none, where they stay. */
static void blocks_bare(struct live_memory *live, struct range range)
{
    struct range_cursor cursor = range_map_seek(&live->blocks, range.start);
    struct live_memory_block *block;
    for (; (block = range_map_at(&live->blocks, cursor)) && block->range.start < range.end;
         cursor = range_map_next(&live->blocks, cursor))
        block->inside = false;
}

static void formers_go(struct live_memory *live, struct range range)
{
    struct range_cursor cursor = range_map_seek(&live->allocations, range.start);
    const struct range *former;
    for (; (former = range_map_at(&live->allocations, cursor)) && former->start < range.end;
         cursor = range_map_next(&live->allocations, cursor))
        blocks_bare(live, *former);
}

void live_memory_add(struct live_memory *live, const struct live_memory_entry *entry)
{
    const struct range range = entry->range;
    pages_add(live, range);
    span_add(live, range);
    range_map_make_room(&live->blocks, range);
    formers_go(live, range);
    struct range_cursor cursor = range_map_make_room(&live->allocations, range);
    struct live_memory_entry *added = range_map_insert(&live->allocations, &cursor, range);
    if (added)
        *added = *entry;
}

bool live_memory_remove(struct live_memory *live, uint64_t base, struct live_memory_entry *removed)
{
    struct range_cursor cursor;
    const struct live_memory_entry *found = begins_at(&live->allocations, base, &cursor);
    if (!found)
        return false;
    *removed = *found;
    range_map_remove(&live->allocations, &cursor);
    range_map_make_room(&live->blocks, removed->range);
    return true;
}

void live_memory_add_block(struct live_memory *live, struct range block, uint32_t site)
{
    struct range_cursor cursor = range_map_make_room(&live->blocks, block);
    struct live_memory_block *added = range_map_insert(&live->blocks, &cursor, block);
    struct live_memory_entry *allocation = range_map_find(&live->allocations, block.start);
    const bool inside = allocation && block.end <= allocation->range.end;
    if (inside)
        allocation->pooled = true;
    if (!added)
        return;
    added->site = site;
    added->inside = inside;
}

void live_memory_remove_block(struct live_memory *live, uint64_t base)
{
    struct range_cursor cursor;
    if (begins_at(&live->blocks, base, &cursor))
        range_map_remove(&live->blocks, &cursor);
}

/* ---- Questions */

const struct live_memory_entry *live_memory_find(const struct live_memory *live, uint64_t address)
{
    return range_map_find(&live->allocations, address);
}

bool live_memory_has_device_memory(const struct live_memory *live, struct range range)
{
    struct range_cursor cursor = range_map_seek(&live->allocations, range.start);
    const struct live_memory_entry *entry;
    for (; (entry = range_map_at(&live->allocations, cursor)) && entry->range.start < range.end;
         cursor = range_map_next(&live->allocations, cursor))
        if (entry->kind != CSAN_MEMORY_HOST && entry->kind != CSAN_MEMORY_VARIABLE)
            return true;
    return false;
}

bool live_memory_owner(const struct live_memory *live, uint64_t address, struct range *owner)
{
    const struct live_memory_block *block = range_map_find(&live->blocks, address);
    const struct live_memory_entry *allocation =
        block && block->inside ? NULL : live_memory_find(live, address);
    if (block && (block->inside || allocation))
        *owner = block->range;
    else if (allocation)
        *owner = allocation->range;
    else
        return false;
    return true;
}

static struct range pointee(const struct live_memory *live, uint64_t pointer)
{
    struct range owner;
    if (live_memory_owner(live, pointer, &owner) ||
        (live_memory_owner(live, pointer - 1, &owner) && owner.end == pointer))
        return owner;
    return (struct range){0, 0};
}

void live_memory_pointees(const struct live_memory *live, const uint64_t *pointers, size_t count,
                          struct range *owners)
{
    for (size_t i = 0; i < count; i++)
        range_map_prefetch(&live->blocks, pointers[i]);
    for (size_t i = 0; i < count; i++)
        range_map_prefetch_element(&live->blocks, pointers[i]);
    for (size_t i = 0; i < count; i++)
        owners[i] = pointee(live, pointers[i]);
}
