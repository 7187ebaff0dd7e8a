/* An ordered map of disjoint byte ranges: start address -> element.
 *
 * Elements of one fixed size, each beginning with struct range, live sorted in chunks of up to 64;
 * a sorted directory holds each chunk's first start. A lookup is two binary searches, or none where
 * the address was looked up before and its element is still near the same place (programs touch the
 * same few addresses again and again), or near that of the newest lookup. An insertion moves at
 * most one chunk and, once in about 32 times, the directory. Pointers to elements are valid until
 * the next insertion or removal. Shadows keep their cells in one, the memory map its allocations.
 * Not thread-safe: the context's lock covers every user. */
#ifndef CSAN_BASE_RANGE_MAP_H
#define CSAN_BASE_RANGE_MAP_H

#include "csan/base/hash.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct range {
    uint64_t start, end; /* [start, end), start < end */
};

static inline bool range_overlaps(struct range a, struct range b)
{
    return a.start < b.end && b.start < a.end;
}

/* A place in a map: the element there, or the end. */
struct range_cursor {
    uint32_t chunk, slot;
};

enum { RANGE_CHUNK = 64 /* elements, at most */ };

struct range_chunk {
    uint32_t count;
    uint32_t capacity; /* most maps hold a handful of elements */
    _Alignas(16) unsigned char elements[];
};

struct range_map {
    struct range_chunk *first; /* chunks[0], which most maps have alone: saves reading `chunks` */
    size_t count;              /* of all elements */
    uint32_t element_bytes;
    uint32_t chunk_count, chunk_capacity;
    uint32_t hint_bits;
    uint32_t
        *hints; /* where an address was found last, by its hash; NULL: the map has few elements */
    uint64_t *firsts; /* firsts[i]: start of chunks[i]'s first element */
    struct range_chunk **chunks;
};

void range_map_init(struct range_map *map, size_t element_bytes);
void range_map_clear(
    struct range_map *map); /* frees the map's memory, not what elements point to */

/* The first element whose end is after address. */
struct range_cursor range_map_seek(const struct range_map *map, uint64_t address);
static inline struct range_chunk *range_map_chunk(const struct range_map *map, uint32_t index)
{
    return index ? map->chunks[index] : map->first;
}
/* The element at the cursor, or NULL at the end. */
static inline void *range_map_at(const struct range_map *map, struct range_cursor cursor)
{
    if (cursor.chunk >= map->chunk_count)
        return NULL;
    struct range_chunk *chunk = range_map_chunk(map, cursor.chunk);
    return chunk->elements + (size_t)cursor.slot * map->element_bytes;
}
static inline struct range_cursor range_map_next(const struct range_map *map,
                                                 struct range_cursor cursor)
{
    if (++cursor.slot >= range_map_chunk(map, cursor.chunk)->count)
        return (struct range_cursor){cursor.chunk + 1, 0};
    return cursor;
}
/* The element before the cursor, or NULL. */
void *range_map_before(const struct range_map *map, struct range_cursor cursor);

/* The element, if the map has exactly one; else NULL. */
static inline void *range_map_only(const struct range_map *map)
{
    return map->count == 1 ? map->first->elements : NULL;
}

/* The element that contains address, or NULL. */
void *range_map_find_slow(const struct range_map *map, uint64_t address);
static inline void *range_map_find(const struct range_map *map, uint64_t address)
{
    struct range *only = range_map_only(map);
    if (!only)
        return range_map_find_slow(map, address);
    return only->start <= address && address < only->end ? only : NULL;
}

/* Prefetches what a search for the address will read. The first call prefetches the place where the
 * address was found last; the second one, once that has arrived, prefetches the element there.
 * (Always inline: gcc takes a function that only prefetches for one that does nothing.) */
__attribute__((always_inline)) static inline uint32_t *range_map_hint(const struct range_map *map,
                                                                      uint64_t address)
{
    return &map->hints[hash_spread(address) >> (64 - map->hint_bits)];
}
__attribute__((always_inline)) static inline void range_map_prefetch(const struct range_map *map,
                                                                     uint64_t address)
{
    if (map->hints)
        __builtin_prefetch(range_map_hint(map, address));
}
__attribute__((always_inline)) static inline void
range_map_prefetch_element(const struct range_map *map, uint64_t address)
{
    uint32_t hint = map->hints ? *range_map_hint(map, address) : 0;
    if (!map->hints || hint / RANGE_CHUNK >= map->chunk_count)
        return;
    const struct range_chunk *chunk = map->chunks[hint / RANGE_CHUNK];
    __builtin_prefetch(chunk);
    __builtin_prefetch(chunk->elements + (size_t)(hint % RANGE_CHUNK) * map->element_bytes);
}

/* Insert a zeroed element with this range before the cursor, which must be its place in the order.
 * Returns it and leaves the cursor on it; NULL when memory is short (the map is unchanged). */
void *range_map_insert(struct range_map *map, struct range_cursor *cursor, struct range range);
/* Remove the element at the cursor, which then stands on the one that followed. */
void range_map_remove(struct range_map *map, struct range_cursor *cursor);
/* Removes all elements that overlap the range. The cursor then stands where an element of that
 * range would be inserted. */
struct range_cursor range_map_make_room(struct range_map *map, struct range range);
/* True when an element overlaps the range. */
bool range_map_overlaps(const struct range_map *map, struct range range);
/* Fills an uninitialized map with copies of the other map's elements. False when memory is short:
 * the map is empty. */
bool range_map_copy(struct range_map *to, const struct range_map *from);
/* Removes the range from all elements. The parts outside of the range stay, with all that their
 * element holds. If the range lies inside one element, two elements remain. False when memory is
 * short for the second. */
bool range_map_cut(struct range_map *map, struct range range);

#endif
