/* The name that somebody probably meant who wrote one that does not exist. */
#ifndef CSAN_BASE_NEAREST_H
#define CSAN_BASE_NEAREST_H

#include <stddef.h>

/* The index-th of the names; NULL: none that is to be proposed. */
typedef const char *nearest_name_at(const void *names, size_t index);

/* NULL: more than half of the name would have to be changed for any of them. */
const char *nearest_name(const char *name, nearest_name_at *name_at, const void *names,
                         size_t count);

#endif
