/* Arrays that grow one element at a time, and arrays of strings. */
#ifndef RUNTIME_CLI_ARRAY_H
#define RUNTIME_CLI_ARRAY_H

#include <stdbool.h>
#include <stdlib.h>

/* Makes room for one more element behind `count`; the room doubles at powers of two. `array` points
 * to the pointer to the first element. False: no memory, and the array is unchanged. */
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
