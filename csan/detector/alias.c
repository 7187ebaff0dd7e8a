/* Second names of the same bytes. See alias.h. */
#include "csan/detector/alias.h"

#include <stdlib.h>

struct alias {
    struct range range; /* the second name */
    uint64_t shift;     /* from it to the first, which is in no alias; it wraps around */
};

void alias_init(struct alias_table *table)
{
    range_map_init(&table->second, sizeof(struct alias));
}

void alias_clear(struct alias_table *table)
{
    range_map_clear(&table->second);
}

void alias_remove(struct alias_table *table, uint64_t base, uint64_t bytes)
{
    range_map_cut(&table->second, (struct range){base, base + bytes});
}

bool alias_add(struct alias_table *table, uint64_t base, uint64_t bytes, uint64_t onto)
{
    if (!bytes || base + bytes < base)
        return false;
    alias_remove(table, base, bytes);
    const struct alias *first = range_map_find(&table->second, onto);
    if (first)
        onto += first->shift;
    if (onto == base)
        return true;
    struct range_cursor place = range_map_seek(&table->second, base);
    struct alias *alias =
        range_map_insert(&table->second, &place, (struct range){base, base + bytes});
    if (alias)
        alias->shift = onto - base;
    return alias != NULL;
}

/* ---- Accesses ---- */

struct renaming {
    const struct alias_table *table;
    struct csan_access *items; /* NULL: only counted so far */
    size_t count;
};

static void put(struct renaming *renaming, const struct csan_access *access, uint64_t base,
                uint64_t bytes)
{
    if (renaming->items) {
        renaming->items[renaming->count] = *access;
        renaming->items[renaming->count].base = base;
        renaming->items[renaming->count].bytes = bytes;
    }
    renaming->count++;
}

/* A run of bytes may lie in several aliases and between them. */
static void put_run(struct renaming *renaming, const struct csan_access *access)
{
    const struct range_map *second = &renaming->table->second;
    uint64_t base = access->base, end = base + access->bytes;
    struct range_cursor cursor = range_map_seek(second, base);
    while (base < end) {
        const struct alias *alias = range_map_at(second, cursor);
        uint64_t gap_end = alias && alias->range.start < end ? alias->range.start : end;
        if (base < gap_end) {
            put(renaming, access, base, gap_end - base);
            base = gap_end;
            continue;
        }
        uint64_t part_end = alias->range.end < end ? alias->range.end : end;
        put(renaming, access, base + alias->shift, part_end - base);
        base = part_end;
        cursor = range_map_next(second, cursor);
    }
}

/* A pattern is taken to be where its first element is. */
static void put_shifted(struct renaming *renaming, const struct csan_access *access)
{
    const struct alias *alias = range_map_find(&renaming->table->second, access->base);
    put(renaming, access, access->base + (alias ? alias->shift : 0), access->bytes);
}

static void rename_accesses(struct renaming *renaming, const struct csan_access *accesses,
                            size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const struct csan_access *access = &accesses[i];
        bool is_run = !access->dim_count && access->bytes != CSAN_TO_END &&
                      access->base + access->bytes > access->base;
        (is_run ? put_run : put_shifted)(renaming, access);
    }
}

static bool overlaps_any(const struct alias_table *table, const struct csan_access *accesses,
                         size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const struct range *next =
            range_map_at(&table->second, range_map_seek(&table->second, accesses[i].base));
        uint64_t end = accesses[i].bytes == CSAN_TO_END || accesses[i].dim_count
                           ? accesses[i].base + 1
                           : accesses[i].base + accesses[i].bytes;
        if (next && next->start < end)
            return true;
    }
    return false;
}

const struct csan_access *alias_canonicalize(const struct alias_table *table,
                                             const struct csan_access *accesses, size_t *count,
                                             struct csan_access **room)
{
    struct renaming renaming = {.table = table};
    *room = NULL;
    if (!table->second.count || !overlaps_any(table, accesses, *count))
        return accesses;
    rename_accesses(&renaming, accesses, *count);
    renaming.items = malloc((renaming.count + 1) * sizeof *renaming.items);
    if (!renaming.items)
        return accesses;
    renaming.count = 0;
    rename_accesses(&renaming, accesses, *count);
    *count = renaming.count;
    return *room = renaming.items;
}
