/* See benign.h. */
#include "benign.h"
#include "lmad.h"

#include <stdlib.h>
#include <string.h>

enum { STEPS_MAX = 4096 }; /* taken for one access before it is left whole */

void benign_clear(struct benign_table *table)
{
    free(table->items);
    *table = (struct benign_table){0};
}

/* ---- the ranges */

/* The first range that ends behind the address. */
static size_t seek(const struct benign_table *table, uint64_t address)
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

static bool insert(struct benign_table *table, size_t at, struct range range)
{
    if (table->count == table->capacity) {
        size_t capacity = table->capacity ? table->capacity * 2 : 8;
        struct range *grown = realloc(table->items, capacity * sizeof *grown);
        if (!grown)
            return false;
        table->items = grown;
        table->capacity = capacity;
    }
    memmove(&table->items[at + 1], &table->items[at], (table->count++ - at) * sizeof *table->items);
    table->items[at] = range;
    return true;
}

static void erase(struct benign_table *table, size_t at)
{
    memmove(&table->items[at], &table->items[at + 1], (--table->count - at) * sizeof *table->items);
}

bool benign_add(struct benign_table *table, struct range range)
{
    size_t at = seek(table, range.start ? range.start - 1 : 0);
    while (at < table->count && table->items[at].start <= range.end) {
        if (table->items[at].start < range.start)
            range.start = table->items[at].start;
        if (table->items[at].end > range.end)
            range.end = table->items[at].end;
        erase(table, at);
    }
    return insert(table, at, range);
}

void benign_remove(struct benign_table *table, struct range range)
{
    size_t at = seek(table, range.start);
    while (at < table->count && table->items[at].start < range.end) {
        struct range old = table->items[at];
        erase(table, at);
        if (old.end > range.end)
            insert(table, at, (struct range){range.end, old.end});
        if (old.start < range.start)
            insert(table, at++, (struct range){old.start, range.start});
        if (old.end > range.end)
            return;
    }
}

/* ---- accesses */

struct cutting {
    const struct benign_table *table;
    struct csan_access *items; /* NULL: only counted so far */
    struct csan_dim *dims;     /* CSAN_MAX_DIMS for each of the items */
    size_t count;
    uint32_t steps;
};

static void put(struct cutting *cutting, const struct csan_access *access, const struct lmad *lmad)
{
    if (cutting->items) {
        struct csan_access *item = &cutting->items[cutting->count];
        struct csan_dim *dims = &cutting->dims[cutting->count * CSAN_MAX_DIMS];
        *item = *access;
        item->base = lmad->base;
        item->bytes = lmad->bytes;
        item->dims = dims;
        item->dim_count = (uint8_t)lmad->dim_count;
        for (uint32_t i = 0; i < lmad->dim_count; i++)
            dims[i] = (struct csan_dim){(int64_t)lmad->dims[i].stride, lmad->dims[i].count};
    }
    cutting->count++;
}

static void put_as_it_is(struct cutting *cutting, const struct csan_access *access)
{
    if (cutting->items)
        cutting->items[cutting->count] = *access;
    cutting->count++;
}

/* The part of a pattern that has only indices [first, end) of its outermost dimension. */
static struct lmad lmad_part(const struct lmad *lmad, uint64_t first, uint64_t end)
{
    struct lmad part = *lmad;
    uint64_t stride = lmad->dims[0].stride;
    part.base += first * stride;
    part.span -= (lmad->dims[0].count - (end - first)) * stride;
    part.dims[0].count = end - first;
    if (end - first == 1)
        memmove(&part.dims[0], &part.dims[1], --part.dim_count * sizeof part.dims[0]);
    return part;
}

static void put_gaps(struct cutting *cutting, const struct csan_access *access, struct lmad lmad)
{
    const struct benign_table *table = cutting->table;
    uint64_t start = lmad.base, end = start + lmad.span;
    for (size_t at = seek(table, start); start < end; at++) {
        uint64_t stop =
            at < table->count && table->items[at].start < end ? table->items[at].start : end;
        lmad.base = start;
        lmad.bytes = lmad.span = stop > start ? stop - start : 0;
        if (lmad.bytes)
            put(cutting, access, &lmad);
        start = stop < end ? table->items[at].end : end;
    }
}

static void cut(struct cutting *cutting, const struct csan_access *access, struct lmad lmad);

/* Of the outermost dimension's indices some are before the range, some meet it, and of those some
 * lie in it whole; the rest is behind it, where other ranges may be. */
static void cut_outermost(struct cutting *cutting, const struct csan_access *access,
                          struct lmad lmad, struct range range)
{
    uint64_t stride = lmad.dims[0].stride, count = lmad.dims[0].count, base = lmad.base;
    uint64_t one = lmad.span - (count - 1) * stride; /* bytes from beginning to end at one index */
    uint64_t first = range.start < base + one ? 0 : (range.start - base - one) / stride + 1;
    uint64_t end = (range.end - 1 - base) / stride + 1;
    uint64_t whole_first = range.start <= base ? 0 : (range.start - base + stride - 1) / stride;
    uint64_t whole_end = range.end < base + one ? 0 : (range.end - base - one) / stride + 1;
    if (end > count)
        end = count;
    if (first > 0) {
        struct lmad before = lmad_part(&lmad, 0, first < count ? first : count);
        put(cutting, access, &before);
    }
    for (uint64_t i = first; i < end; i++) {
        if (i >= whole_first && i < whole_end)
            i = whole_end - 1;
        else
            cut(cutting, access, lmad_part(&lmad, i, i + 1));
    }
    if (end < count)
        cut(cutting, access, lmad_part(&lmad, end > first ? end : first, count));
}

static void cut(struct cutting *cutting, const struct csan_access *access, struct lmad lmad)
{
    const struct benign_table *table = cutting->table;
    size_t at = seek(table, lmad.base);
    const struct range *range = at < table->count ? &table->items[at] : NULL;
    if (!range || range->start >= lmad.base + lmad.span || ++cutting->steps > STEPS_MAX)
        put(cutting, access, &lmad);
    else if (range->start <= lmad.base && range->end >= lmad.base + lmad.span)
        return;
    else if (lmad_is_contiguous(&lmad))
        put_gaps(cutting, access, lmad);
    else
        cut_outermost(cutting, access, lmad, *range);
}

/* Whether the access has benign bytes, and the pattern that it is. */
static bool meets(const struct benign_table *table, struct lmad *lmad,
                  const struct csan_access *access, benign_find_end *find_end, void *user)
{
    struct csan_access ended = *access;
    if (access->bytes == CSAN_TO_END) {
        uint64_t end = find_end(user, access->base);
        if (end <= access->base)
            return false;
        ended.bytes = end - access->base;
    }
    if (!lmad_from_access(lmad, &ended))
        return false;
    size_t at = seek(table, lmad->base);
    return at < table->count && table->items[at].start < lmad->base + lmad->span;
}

static void cut_all(struct cutting *cutting, const struct csan_access *accesses, size_t count,
                    benign_find_end *find_end, void *user)
{
    cutting->count = 0;
    for (size_t i = 0; i < count; i++) {
        struct lmad lmad;
        cutting->steps = 0;
        if (meets(cutting->table, &lmad, &accesses[i], find_end, user))
            cut(cutting, &accesses[i], lmad);
        else
            put_as_it_is(cutting, &accesses[i]);
    }
}

static bool meets_any(const struct benign_table *table, const struct csan_access *accesses,
                      size_t count, benign_find_end *find_end, void *user)
{
    for (size_t i = 0; i < count; i++) {
        struct lmad lmad;
        if (meets(table, &lmad, &accesses[i], find_end, user))
            return true;
    }
    return false;
}

const struct csan_access *benign_cut(const struct benign_table *table,
                                     const struct csan_access *accesses, size_t *count,
                                     benign_find_end *find_end, void *user, void **room)
{
    struct cutting cutting = {.table = table};
    *room = NULL;
    if (!table->count || !meets_any(table, accesses, *count, find_end, user))
        return accesses;
    cut_all(&cutting, accesses, *count, find_end, user);
    size_t items = cutting.count * sizeof *cutting.items;
    *room = malloc(items + cutting.count * CSAN_MAX_DIMS * sizeof *cutting.dims + 1);
    if (!*room)
        return accesses;
    cutting.items = *room;
    cutting.dims = (struct csan_dim *)((char *)*room + items);
    cut_all(&cutting, accesses, *count, find_end, user);
    *count = cutting.count;
    return *room;
}
