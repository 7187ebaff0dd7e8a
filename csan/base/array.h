/* Arrays that grow, and arrays of strings. `array` points to the pointer to the first element,
 * which moves. `first` is at least 1. Not thread-safe; the caller owns the array and frees it. */
#ifndef CSAN_BASE_ARRAY_H
#define CSAN_BASE_ARRAY_H

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* Of array_reserve: what does not fit yet. Apart, so that callers stay small where it fits. */
__attribute__((noinline, unused)) static bool array_reserve_slow(void *array, size_t needed,
                                                                 size_t *capacity, size_t first,
                                                                 size_t most, size_t element)
{
    const size_t limit = most < SIZE_MAX / element ? most : SIZE_MAX / element;
    size_t larger = *capacity ? *capacity : first;
    while (larger < needed && larger <= limit / 2)
        larger *= 2;
    void *items;
    memcpy(&items, array, sizeof items);
    items = larger < needed || larger > limit ? NULL : realloc(items, larger * element);
    if (!items)
        return false;
    memcpy(array, &items, sizeof items);
    *capacity = larger;
    return true;
}

/* Makes room for `needed` elements in all. The room is `first` elements and then doubles, up to
 * `most` and to what size_t counts in bytes. False: no more may be had, and the array is
 * unchanged. */
static inline bool array_reserve(void *array, size_t needed, size_t *capacity, size_t first,
                                 size_t most, size_t element)
{
    return needed <= *capacity || array_reserve_slow(array, needed, capacity, first, most, element);
}

/* The same for one more element behind `count`. */
static inline bool array_room(void *array, size_t count, size_t *capacity, size_t first,
                              size_t most, size_t element)
{
    return count < *capacity || (count != SIZE_MAX && array_reserve_slow(array, count + 1, capacity,
                                                                         first, most, element));
}

/* The same for the element `number` of an array by number: elements that are new are zero. */
static inline bool array_reach(void *array, size_t number, size_t *capacity, size_t first,
                               size_t most, size_t element)
{
    const size_t before = *capacity;
    if (number < before)
        return true;
    if (!array_room(array, number, capacity, first, most, element))
        return false;
    char *items;
    memcpy(&items, array, sizeof items);
    memset(items + before * element, 0, (*capacity - before) * element);
    return true;
}

/* One more element behind `count`, without a capacity to keep: the room doubles at powers of
 * two. */
static inline bool array_grow(void *array, size_t count, size_t element)
{
    size_t capacity = count;
    return count & (count - 1) || array_room(array, count, &capacity, 1, SIZE_MAX, element);
}

static inline void array_free_strings(char **strings, size_t count)
{
    for (size_t i = 0; i < count; i++)
        free(strings[i]);
    free(strings);
}

#endif
