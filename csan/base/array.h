/* Arrays that grow one element at a time, and arrays of strings. `array` points to the pointer to
 * the first element, which moves. */
#ifndef CSAN_BASE_ARRAY_H
#define CSAN_BASE_ARRAY_H

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* Makes room for one more element behind `count`. The room is `first` elements and then doubles, up
 * to `most`. False: no more may be had, and the array is unchanged. */
static inline bool array_room(void *array, size_t count, size_t *capacity, size_t first,
                              size_t most, size_t element)
{
    if (count < *capacity)
        return true;
    const size_t larger = *capacity ? *capacity * 2 : first;
    void *items;
    memcpy(&items, array, sizeof items);
    items = larger > most ? NULL : realloc(items, larger * element);
    if (!items)
        return false;
    memcpy(array, &items, sizeof items);
    *capacity = larger;
    return true;
}

/* The same without a capacity to keep: the room doubles at powers of two. */
static inline bool array_grow(void *array, size_t count, size_t element)
{
    void **at = array;
    if (count & (count - 1))
        return true;
    void *grown = realloc(*at, (count ? count * 2 : 1) * element);
    if (grown)
        *at = grown;
    return grown != NULL;
}

static inline void array_free_strings(char **strings, size_t count)
{
    for (size_t i = 0; i < count; i++)
        free(strings[i]);
    free(strings);
}

#endif
