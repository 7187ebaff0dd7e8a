/* Attributes of opaque structures, by tables: number, place and bytes of each. */
#ifndef RUNTIME_DEVICE_LIBRARY_ATTRIBUTES_H
#define RUNTIME_DEVICE_LIBRARY_ATTRIBUTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct attribute {
    int number;
    uint16_t offset, bytes;
};

#define ATTRIBUTE(number, type, field)                                                             \
    {                                                                                              \
        number, offsetof(type, field), sizeof(((type *)0)->field)                                  \
    }

/* Copy a value of exactly the attribute's bytes. False: there is no such attribute, or it has
 * another size. `written` may be NULL; with `bytes` 0 a get only says how many there are. */
bool attribute_set(const struct attribute *table, size_t count, void *object, int number,
                   const void *value, size_t bytes);
bool attribute_get(const struct attribute *table, size_t count, const void *object, int number,
                   void *value, size_t bytes, size_t *written);

#endif
