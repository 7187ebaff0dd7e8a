/* Second names of the same bytes. See alias.h. */
#include "alias.h"

#include <stdlib.h>
#include <string.h>

void alias_clear(struct alias_table *table)
{
    free(table->items);
    *table = (struct alias_table){0};
}

/* The first alias that ends behind the address. */
static size_t seek(const struct alias_table *table, uint64_t address)
{
    size_t low = 0, high = table->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (table->items[middle].end <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static const struct alias *find(const struct alias_table *table, uint64_t address)
{
    size_t at = seek(table, address);
    return at < table->count && table->items[at].base <= address ? &table->items[at] : NULL;
}

static bool insert(struct alias_table *table, size_t at, struct alias alias)
{
    if (table->count == table->capacity) {
        size_t capacity = table->capacity ? table->capacity * 2 : 8;
        struct alias *grown = realloc(table->items, capacity * sizeof *grown);
        if (!grown)
            return false;
        table->items = grown;
        table->capacity = capacity;
    }
    memmove(&table->items[at + 1], &table->items[at], (table->count++ - at) * sizeof *table->items);
    table->items[at] = alias;
    return true;
}

void alias_remove(struct alias_table *table, uint64_t base, uint64_t bytes)
{
    uint64_t end = base + bytes;
    size_t at = seek(table, base);
    while (at < table->count && table->items[at].base < end) {
        struct alias *alias = &table->items[at];
        struct alias rest = {end, alias->end, alias->onto + (end - alias->base)};
        if (alias->base < base && alias->end > end) {
            alias->end = base;
            insert(table, at + 1, rest);
            return;
        }
        if (alias->base < base) {
            alias->end = base;
            at++;
        } else if (alias->end > end) {
            *alias = rest;
            return;
        } else {
            memmove(alias, alias + 1, (--table->count - at) * sizeof *alias);
        }
    }
}

bool alias_add(struct alias_table *table, uint64_t base, uint64_t bytes, uint64_t onto)
{
    if (!bytes || base + bytes < base)
        return false;
    alias_remove(table, base, bytes);
    const struct alias *first = find(table, onto);
    if (first)
        onto = first->onto + (onto - first->base);
    return onto == base ||
           insert(table, seek(table, base), (struct alias){base, base + bytes, onto});
}

/* ---- Accesses ---- */

struct translation {
    const struct alias_table *table;
    struct csan_access *items; /* NULL: only counted so far */
    size_t count;
};

static void put(struct translation *translation, const struct csan_access *access, uint64_t base,
                uint64_t bytes)
{
    if (translation->items) {
        translation->items[translation->count] = *access;
        translation->items[translation->count].base = base;
        translation->items[translation->count].bytes = bytes;
    }
    translation->count++;
}

/* A run of bytes may lie in several aliases and between them. */
static void put_run(struct translation *translation, const struct csan_access *access)
{
    const struct alias_table *table = translation->table;
    uint64_t base = access->base, end = base + access->bytes;
    for (size_t at = seek(table, base); base < end; at++) {
        const struct alias *alias = at < table->count ? &table->items[at] : NULL;
        uint64_t gap_end = alias && alias->base < end ? alias->base : end;
        if (base < gap_end) {
            put(translation, access, base, gap_end - base);
            base = gap_end;
        }
        if (base < end) {
            uint64_t part_end = alias->end < end ? alias->end : end;
            put(translation, access, alias->onto + (base - alias->base), part_end - base);
            base = part_end;
        }
    }
}

/* A pattern is taken to be where its first element is. */
static void put_shifted(struct translation *translation, const struct csan_access *access)
{
    const struct alias *alias = find(translation->table, access->base);
    uint64_t base = alias ? alias->onto + (access->base - alias->base) : access->base;
    put(translation, access, base, access->bytes);
}

static void translate(struct translation *translation, const struct csan_access *accesses,
                      size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const struct csan_access *access = &accesses[i];
        bool is_run = !access->dim_count && access->bytes != CSAN_TO_END &&
                      access->base + access->bytes > access->base;
        (is_run ? put_run : put_shifted)(translation, access);
    }
}

static bool meets_any(const struct alias_table *table, const struct csan_access *accesses,
                      size_t count)
{
    for (size_t i = 0; i < count; i++) {
        size_t at = seek(table, accesses[i].base);
        uint64_t end = accesses[i].bytes == CSAN_TO_END || accesses[i].dim_count
                           ? accesses[i].base + 1
                           : accesses[i].base + accesses[i].bytes;
        if (at < table->count && table->items[at].base < end)
            return true;
    }
    return false;
}

const struct csan_access *alias_translate(const struct alias_table *table,
                                          const struct csan_access *accesses, size_t *count,
                                          struct csan_access **room)
{
    struct translation translation = {.table = table};
    *room = NULL;
    if (!table->count || !meets_any(table, accesses, *count))
        return accesses;
    translate(&translation, accesses, *count);
    translation.items = malloc((translation.count + 1) * sizeof *translation.items);
    if (!translation.items)
        return accesses;
    translation.count = 0;
    translate(&translation, accesses, *count);
    *count = translation.count;
    return *room = translation.items;
}
