/* See benign.h. */
#include "csan/detector/benign.h"
#include "csan/shadow/lmad.h"

#include <stdlib.h>
#include <string.h>

enum { STEPS_MAX = 4096 }; /* taken for one access before it is left whole */

void benign_init(struct benign_table *table)
{
    range_map_init(&table->ranges, sizeof(struct range));
}

void benign_clear(struct benign_table *table)
{
    range_map_clear(&table->ranges);
}

/* The first range that ends behind the address, or NULL. */
static const struct range *next_from(const struct benign_table *table, uint64_t address)
{
    return range_map_at(&table->ranges, range_map_seek(&table->ranges, address));
}

bool benign_add(struct benign_table *table, struct range range)
{
    struct range_cursor cursor = range_map_seek(&table->ranges, range.start ? range.start - 1 : 0);
    const struct range *next;
    while ((next = range_map_at(&table->ranges, cursor)) && next->start <= range.end) {
        if (next->start < range.start)
            range.start = next->start;
        if (next->end > range.end)
            range.end = next->end;
        range_map_remove(&table->ranges, &cursor);
    }
    return range_map_insert(&table->ranges, &cursor, range) != NULL;
}

void benign_remove(struct benign_table *table, struct range range)
{
    range_map_cut(&table->ranges, range);
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
    uint64_t start = lmad.base, end = start + lmad.span;
    while (start < end) {
        const struct range *next = next_from(cutting->table, start);
        uint64_t stop = next && next->start < end ? next->start : end;
        lmad.base = start;
        lmad.bytes = lmad.span = stop > start ? stop - start : 0;
        if (lmad.bytes)
            put(cutting, access, &lmad);
        start = stop < end ? next->end : end;
    }
}

static void cut(struct cutting *cutting, const struct csan_access *access, struct lmad lmad);

/* The outermost dimension's indices fall into three parts: before the range, overlapping it (some
 * lie wholly in it), and behind it, where other ranges may be. */
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
    const struct range *range = next_from(cutting->table, lmad.base);
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
static bool overlaps(const struct benign_table *table, struct lmad *lmad,
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
    const struct range *next = next_from(table, lmad->base);
    return next && next->start < lmad->base + lmad->span;
}

static void cut_all(struct cutting *cutting, const struct csan_access *accesses, size_t count,
                    benign_find_end *find_end, void *user)
{
    cutting->count = 0;
    for (size_t i = 0; i < count; i++) {
        struct lmad lmad;
        cutting->steps = 0;
        if (overlaps(cutting->table, &lmad, &accesses[i], find_end, user))
            cut(cutting, &accesses[i], lmad);
        else
            put_as_it_is(cutting, &accesses[i]);
    }
}

static bool overlaps_any(const struct benign_table *table, const struct csan_access *accesses,
                         size_t count, benign_find_end *find_end, void *user)
{
    for (size_t i = 0; i < count; i++) {
        struct lmad lmad;
        if (overlaps(table, &lmad, &accesses[i], find_end, user))
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
    if (!table->ranges.count || !overlaps_any(table, accesses, *count, find_end, user))
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
