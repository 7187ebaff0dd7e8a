#include "csan/base/range_map.h"
#include "csan/base/array.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum { FEW_BYTES = 2048 /* that are searched faster than a hint is read */ };

static struct range *element_at(const struct range_map *map, const struct range_chunk *chunk,
                                uint32_t slot)
{
    return (struct range *)(chunk->elements + (size_t)slot * map->element_bytes);
}

void range_map_init(struct range_map *map, size_t element_bytes)
{
    *map = (struct range_map){.element_bytes = (uint32_t)element_bytes};
}

void range_map_clear(struct range_map *map)
{
    for (uint32_t i = 0; i < map->chunk_count; i++)
        free(map->chunks[i]);
    free(map->chunks);
    free(map->firsts);
    free(map->hints);
    range_map_init(map, map->element_bytes);
}

/* Both searches add what they step over without a branch: which half it is nobody could predict,
 * and each wrong guess costs more than the whole of what they read. */

/* The last chunk whose first start is at or before address, or 0. */
static uint32_t chunk_for(const struct range_map *map, uint64_t address)
{
    uint32_t low = 0;
    for (uint32_t count = map->chunk_count; count > 1;) {
        const uint32_t half = count / 2;
        low += half & -(uint32_t)(map->firsts[low + half] <= address);
        count -= half;
    }
    return low;
}

static struct range_cursor seek_slow(const struct range_map *map, uint64_t address)
{
    uint32_t index = chunk_for(map, address);
    const struct range_chunk *chunk = range_map_chunk(map, index);
    uint32_t low = 0;
    for (uint32_t count = chunk->count; count > 0;) {
        const uint32_t half = (count + 1) / 2;
        low += half & -(uint32_t)(element_at(map, chunk, low + half - 1)->end <= address);
        count -= half;
    }
    if (low == chunk->count)
        return (struct range_cursor){index + 1, 0};
    return (struct range_cursor){index, low};
}

/* A hint is a cursor in one number, and only ever a guess: from there the place of the address is
 * looked for, a few steps up or down, since others came and went before it. The place of an address
 * that no element holds is found so, too: blocks come where blocks were, and pointers outlive them.
 */
static bool seek_near(const struct range_map *map, uint32_t *hint, uint64_t address)
{
    enum { NEAR = 4 };
    uint32_t index = *hint / RANGE_CHUNK, slot = *hint % RANGE_CHUNK;
    const struct range_chunk *chunk = index < map->chunk_count ? range_map_chunk(map, index) : NULL;
    int steps = 0;
    if (!chunk || slot >= chunk->count ||
        address >= element_at(map, chunk, chunk->count - 1)->end ||
        (index > 0 && address < element_at(map, chunk, 0)->start))
        return false; /* it is not in this chunk */
    while (element_at(map, chunk, slot)->end <= address)
        if (++slot == chunk->count || ++steps > NEAR)
            return false;
    while (slot > 0 && element_at(map, chunk, slot - 1)->end > address) {
        slot--;
        if (++steps > NEAR)
            return false;
    }
    *hint = index * RANGE_CHUNK + slot;
    return true;
}

enum { MOST_BITS = 13 }; /* of hints: what stays near the processor */

/* Where the newest search ended, behind the hints: lists of pointers often go from one element to
 * the next, and two addresses of one list may have one hint. Maps that outgrow the hints have
 * no such order. */
static uint32_t *newest_hint(const struct range_map *map)
{
    return &map->hints[(size_t)1 << map->hint_bits];
}

static uint32_t seek_hinted(const struct range_map *map, uint64_t address)
{
    uint32_t *hint = range_map_hint(map, address), *newest = newest_hint(map);
    if (!seek_near(map, hint, address)) {
        uint32_t next = *newest;
        if (map->hint_bits == MOST_BITS || !seek_near(map, &next, address)) {
            const struct range_cursor cursor = seek_slow(map, address);
            next = cursor.chunk * RANGE_CHUNK + cursor.slot;
        }
        *hint = next;
    }
    *newest = *hint;
    return *hint;
}

struct range_cursor range_map_seek(const struct range_map *map, uint64_t address)
{
    if (!map->chunk_count)
        return (struct range_cursor){0, 0};
    if (!map->hints)
        return seek_slow(map, address);
    const uint32_t found = seek_hinted(map, address);
    return (struct range_cursor){found / RANGE_CHUNK, found % RANGE_CHUNK};
}

void *range_map_before(const struct range_map *map, struct range_cursor cursor)
{
    if (cursor.slot > 0)
        return element_at(map, map->chunks[cursor.chunk], cursor.slot - 1);
    if (cursor.chunk == 0)
        return NULL;
    const struct range_chunk *chunk = map->chunks[cursor.chunk - 1];
    return element_at(map, chunk, chunk->count - 1);
}

/* The element that the hint names, if it contains the address: most lookups end here. */
static struct range *find_hinted(const struct range_map *map, uint64_t address)
{
    const uint32_t hint = *range_map_hint(map, address), slot = hint % RANGE_CHUNK;
    if (hint / RANGE_CHUNK >= map->chunk_count)
        return NULL;
    const struct range_chunk *chunk = range_map_chunk(map, hint / RANGE_CHUNK);
    struct range *found = slot < chunk->count ? element_at(map, chunk, slot) : NULL;
    if (!found || found->start > address || address >= found->end)
        return NULL;
    *newest_hint(map) = hint;
    return found;
}

void *range_map_find_slow(const struct range_map *map, uint64_t address)
{
    struct range *found = map->hints ? find_hinted(map, address) : NULL;
    if (found)
        return found;
    found = range_map_at(map, range_map_seek(map, address));
    return found && found->start <= address ? found : NULL;
}

static struct range_chunk *chunk_resize(const struct range_map *map, struct range_chunk *chunk,
                                        uint32_t capacity)
{
    struct range_chunk *grown =
        realloc(chunk, sizeof(*chunk) + (size_t)capacity * map->element_bytes);
    if (!grown)
        return NULL;
    if (!chunk)
        grown->count = 0;
    grown->capacity = capacity;
    return grown;
}

/* Twice as many hints as elements fit, up to what stays near the processor; without memory for
 * them, none: they save time, nothing else. */
static void make_hints(struct range_map *map)
{
    enum { CHUNK_BITS = 6 };
    static_assert(RANGE_CHUNK == 1 << CHUNK_BITS, "hints are counted in powers of two");
    uint32_t bits = CHUNK_BITS + 32u - (uint32_t)__builtin_clz(map->chunk_capacity);
    free(map->hints);
    map->hint_bits = bits < MOST_BITS ? bits : MOST_BITS;
    map->hints = calloc(((size_t)1 << map->hint_bits) + 1, sizeof(*map->hints));
}

/* Open a directory entry at `index` for `chunk`. */
static bool directory_insert(struct range_map *map, uint32_t index, struct range_chunk *chunk)
{
    if (map->chunk_count == map->chunk_capacity) {
        size_t firsts = map->chunk_capacity, chunks = firsts;
        if (!array_room(&map->firsts, map->chunk_count, &firsts, 1, UINT32_MAX,
                        sizeof *map->firsts) ||
            !array_room(&map->chunks, map->chunk_count, &chunks, 1, UINT32_MAX,
                        sizeof(struct range_chunk *)))
            return false;
        map->chunk_capacity = (uint32_t)chunks;
        if (chunks > 1)
            make_hints(map);
    }
    size_t tail = map->chunk_count - index;
    memmove(map->firsts + index + 1, map->firsts + index, tail * sizeof(*map->firsts));
    memmove(map->chunks + index + 1, map->chunks + index, tail * sizeof(struct range_chunk *));
    map->chunks[index] = chunk;
    map->first = map->chunks[0];
    map->chunk_count++;
    return true;
}

/* Make room in the cursor's chunk: grow it, or split it in two and move the cursor along. */
static bool chunk_make_room(struct range_map *map, struct range_cursor *cursor)
{
    struct range_chunk *chunk = map->chunks[cursor->chunk];
    if (chunk->count < chunk->capacity)
        return true;
    if (chunk->capacity < RANGE_CHUNK) {
        struct range_chunk *grown = chunk_resize(map, chunk, chunk->capacity * 4);
        if (!grown)
            return false;
        map->chunks[cursor->chunk] = grown;
        map->first = map->chunks[0];
        if (!map->hints && grown->capacity * map->element_bytes > FEW_BYTES)
            make_hints(map);
        return true;
    }
    struct range_chunk *upper = chunk_resize(map, NULL, RANGE_CHUNK);
    if (!upper)
        return false;
    if (!directory_insert(map, cursor->chunk + 1, upper)) {
        free(upper);
        return false;
    }
    /* Appending splits off an empty tail, so that memory filled in order packs its chunks. */
    bool append = cursor->chunk + 2 == map->chunk_count && cursor->slot == chunk->count;
    uint32_t keep = append ? chunk->count - 1 : RANGE_CHUNK / 2;
    upper->count = chunk->count - keep;
    memcpy(upper->elements, element_at(map, chunk, keep),
           (size_t)upper->count * map->element_bytes);
    chunk->count = keep;
    map->firsts[cursor->chunk + 1] = element_at(map, upper, 0)->start;
    if (cursor->slot > keep)
        *cursor = (struct range_cursor){cursor->chunk + 1, cursor->slot - keep};
    return true;
}

void *range_map_insert(struct range_map *map, struct range_cursor *cursor, struct range range)
{
    if (!map->chunk_count) {
        struct range_chunk *chunk = chunk_resize(map, NULL, 1);
        if (!chunk)
            return NULL;
        if (!directory_insert(map, 0, chunk)) {
            free(chunk);
            return NULL;
        }
        *cursor = (struct range_cursor){0, 0};
    } else if (cursor->slot == 0 && cursor->chunk > 0) {
        /* the end of the chunk before is the same place, and the only one when at the map's end */
        *cursor = (struct range_cursor){cursor->chunk - 1, map->chunks[cursor->chunk - 1]->count};
    }
    if (!chunk_make_room(map, cursor))
        return NULL;
    struct range_chunk *chunk = map->chunks[cursor->chunk];
    struct range *element = element_at(map, chunk, cursor->slot);
    memmove((unsigned char *)element + map->element_bytes, element,
            (size_t)(chunk->count - cursor->slot) * map->element_bytes);
    memset(element, 0, map->element_bytes);
    *element = range;
    chunk->count++;
    map->count++;
    if (cursor->slot == 0)
        map->firsts[cursor->chunk] = range.start;
    return element;
}

void range_map_remove(struct range_map *map, struct range_cursor *cursor)
{
    struct range_chunk *chunk = map->chunks[cursor->chunk];
    struct range *element = element_at(map, chunk, cursor->slot);
    chunk->count--;
    map->count--;
    memmove(element, (unsigned char *)element + map->element_bytes,
            (size_t)(chunk->count - cursor->slot) * map->element_bytes);
    if (chunk->count == 0) {
        free(chunk);
        size_t tail = map->chunk_count - cursor->chunk - 1;
        memmove(map->firsts + cursor->chunk, map->firsts + cursor->chunk + 1,
                tail * sizeof(*map->firsts));
        memmove(map->chunks + cursor->chunk, map->chunks + cursor->chunk + 1,
                tail * sizeof(struct range_chunk *));
        map->chunk_count--;
        map->first = map->chunk_count ? map->chunks[0] : NULL;
        cursor->slot = 0;
        return;
    }
    if (cursor->slot == 0)
        map->firsts[cursor->chunk] = element_at(map, chunk, 0)->start;
    if (cursor->slot == chunk->count)
        *cursor = (struct range_cursor){cursor->chunk + 1, 0};
}

struct range_cursor range_map_make_room(struct range_map *map, struct range range)
{
    struct range_cursor cursor;
    const struct range *former;
    while ((former = range_map_at(map, cursor = range_map_seek(map, range.start))) &&
           former->start < range.end)
        range_map_remove(map, &cursor);
    return cursor;
}

/* A copy of the element before `place` there, with a range of its own. */
static bool split_off(struct range_map *map, struct range_cursor place, struct range range)
{
    void *part = range_map_insert(map, &place, range);
    if (!part)
        return false;
    memcpy((unsigned char *)part + sizeof range,
           (unsigned char *)range_map_before(map, place) + sizeof range,
           map->element_bytes - sizeof range);
    return true;
}

bool range_map_cut(struct range_map *map, struct range range)
{
    struct range_cursor cursor = range_map_seek(map, range.start);
    struct range *element;
    while ((element = range_map_at(map, cursor)) && element->start < range.end) {
        uint64_t end = element->end;
        if (element->start >= range.start && end > range.end) {
            element->start = range.end;
            if (cursor.slot == 0)
                map->firsts[cursor.chunk] = range.end;
            return true;
        }
        if (element->start >= range.start) {
            range_map_remove(map, &cursor);
            continue;
        }
        element->end = range.start;
        cursor = range_map_next(map, cursor);
        if (end > range.end)
            return split_off(map, cursor, (struct range){range.end, end});
    }
    return true;
}

bool range_map_overlaps(const struct range_map *map, struct range range)
{
    const struct range *found = range_map_at(map, range_map_seek(map, range.start));
    return found && found->start < range.end;
}

bool range_map_copy(struct range_map *to, const struct range_map *from)
{
    const struct range *element;
    range_map_init(to, from->element_bytes);
    for (struct range_cursor at = {0, 0}; (element = range_map_at(from, at));
         at = range_map_next(from, at)) {
        struct range_cursor end = range_map_seek(to, element->start);
        void *copy = range_map_insert(to, &end, *element);
        if (!copy) {
            range_map_clear(to);
            return false;
        }
        memcpy(copy, element, from->element_bytes);
    }
    return true;
}
