/* See freed.h. */
#include "csan/shadow/freed.h"

void freed_init(struct freed *freed)
{
    *freed = (struct freed){.turns = 0};
    range_map_init(&freed->map, sizeof(struct freed_range));
}

void freed_clear(struct freed *freed)
{
    range_map_clear(&freed->map);
}

/* The older half makes room: that is once in FREED_MOST / 2 frees. */
static void forget_old(struct freed *freed)
{
    const uint64_t oldest = freed->turns - FREED_MOST / 2;
    struct range_cursor cursor = {0, 0};
    struct freed_range *entry;
    while ((entry = range_map_at(&freed->map, cursor)))
        if (entry->turn <= oldest)
            range_map_remove(&freed->map, &cursor);
        else
            cursor = range_map_next(&freed->map, cursor);
    if (freed->map.count >= FREED_MOST) { /* births have cut it into pieces */
        range_map_clear(&freed->map);
        range_map_init(&freed->map, sizeof(struct freed_range));
    }
}

/* Where the same memory was freed before, as pools do again and again, its entry. */
static struct freed_range *entry_of(struct freed *freed, struct range range)
{
    struct range_cursor cursor = range_map_seek(&freed->map, range.start);
    struct freed_range *former = range_map_at(&freed->map, cursor);
    if (former && former->range.start == range.start && former->range.end == range.end)
        return former;
    freed_forget(freed, range);
    if (freed->map.count >= FREED_MOST)
        forget_old(freed);
    cursor = range_map_seek(&freed->map, range.start);
    return range_map_insert(&freed->map, &cursor, range);
}

void freed_add(struct freed *freed, struct range range, bool at_host, uint32_t birth_site,
               const struct past_access *death)
{
    struct freed_range *entry = entry_of(freed, range);
    if (!entry)
        return;
    entry->whole = range;
    entry->birth_site = birth_site;
    entry->death = *death;
    entry->turn = ++freed->turns;
    entry->at_host = at_host;
}

void freed_forget(struct freed *freed, struct range range)
{
    if (freed->map.count && range_map_overlaps(&freed->map, range))
        range_map_cut(&freed->map, range);
}

const struct freed_range *freed_find(const struct freed *freed, uint64_t address)
{
    return freed->map.count ? range_map_find(&freed->map, address) : NULL;
}

bool freed_has_device_memory(const struct freed *freed, struct range range)
{
    struct range_cursor cursor = range_map_seek(&freed->map, range.start);
    const struct freed_range *entry;
    for (; (entry = range_map_at(&freed->map, cursor)) && entry->range.start < range.end;
         cursor = range_map_next(&freed->map, cursor))
        if (!entry->at_host)
            return true;
    return false;
}
