/* The program's memory. See front.h. */
#include "front.h"

/* Of whatever looks like an address most is none: 4 GiB of the address space is a page. */
enum { PAGE_SHIFT = 32, PAGE_BITS = 64 * FRONT_PAGE_WORDS };

void front_init(struct front *front)
{
    *front = (struct front){0};
    range_map_init(&front->allocations, sizeof(struct front_entry));
    range_map_init(&front->blocks, sizeof(struct range));
}

void front_clear(struct front *front)
{
    range_map_clear(&front->allocations);
    range_map_clear(&front->blocks);
}

/* ---- Pages */

static uint32_t page_hash(uint64_t page)
{
    return (uint32_t)(page * UINT64_C(0x9e3779b97f4a7c15) >> 54); /* below PAGE_BITS */
}

static void pages_add(struct front *front, struct range range)
{
    uint64_t first = range.start >> PAGE_SHIFT, last = (range.end - 1) >> PAGE_SHIFT;
    if (last - first > PAGE_BITS) /* more would set no more bits, but take for ever */
        last = first + PAGE_BITS;
    for (uint64_t page = first; page <= last; page++) {
        uint32_t hash = page_hash(page);
        __atomic_fetch_or(&front->pages[hash / 64], UINT64_C(1) << hash % 64, __ATOMIC_RELAXED);
    }
}

bool front_may_have(const struct front *front, uint64_t address)
{
    uint32_t hash = page_hash(address >> PAGE_SHIFT);
    return __atomic_load_n(&front->pages[hash / 64], __ATOMIC_RELAXED) >> hash % 64 & 1;
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

void front_add(struct front *front, enum csan_memory_kind kind, struct range range)
{
    pages_add(front, range);
    range_map_make_room(&front->blocks, range);
    struct range_cursor cursor = range_map_make_room(&front->allocations, range);
    struct front_entry *entry = range_map_insert(&front->allocations, &cursor, range);
    if (entry)
        entry->kind = kind;
}

bool front_remove(struct front *front, uint64_t base, struct front_entry *removed)
{
    struct range_cursor cursor;
    const struct front_entry *found = begins_at(&front->allocations, base, &cursor);
    if (!found)
        return false;
    *removed = *found;
    range_map_remove(&front->allocations, &cursor);
    range_map_make_room(&front->blocks, removed->range);
    return true;
}

void front_add_block(struct front *front, struct range block)
{
    struct range_cursor cursor = range_map_make_room(&front->blocks, block);
    range_map_insert(&front->blocks, &cursor, block);
}

void front_remove_block(struct front *front, uint64_t base)
{
    struct range_cursor cursor;
    if (begins_at(&front->blocks, base, &cursor))
        range_map_remove(&front->blocks, &cursor);
}

/* ---- Questions */

const struct front_entry *front_find(const struct front *front, uint64_t address)
{
    return range_map_find(&front->allocations, address);
}

bool front_owner(const struct front *front, uint64_t address, struct range *owner)
{
    const struct front_entry *allocation = front_find(front, address);
    const struct range *block = allocation ? range_map_find(&front->blocks, address) : NULL;
    if (allocation)
        *owner = block ? *block : allocation->range;
    return allocation != NULL;
}
