/* Attributes of opaque structures. See attributes.h. */
#include "runtime/device/library/attributes.h"

#include <string.h>

static const struct attribute *find(const struct attribute *table, size_t count, int number)
{
    for (size_t i = 0; i < count; i++)
        if (table[i].number == number)
            return &table[i];
    return NULL;
}

bool attribute_set(const struct attribute *table, size_t count, void *object, int number,
                   const void *value, size_t bytes)
{
    const struct attribute *known = find(table, count, number);
    if (!known || !object || !value || bytes != known->bytes)
        return false;
    memcpy((char *)object + known->offset, value, bytes);
    return true;
}

bool attribute_get(const struct attribute *table, size_t count, const void *object, int number,
                   void *value, size_t bytes, size_t *written)
{
    const struct attribute *known = find(table, count, number);
    if (!known || !object || (bytes && (!value || bytes < known->bytes)) || (!bytes && !written))
        return false;
    if (written)
        *written = known->bytes;
    if (bytes)
        memcpy(value, (const char *)object + known->offset, known->bytes);
    return true;
}
