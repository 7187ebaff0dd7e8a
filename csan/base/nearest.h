/* Finds the existing name that a person probably meant by a misspelt one. */
#ifndef CSAN_BASE_NEAREST_H
#define CSAN_BASE_NEAREST_H

#include <stddef.h>

/* The name with that index; NULL: do not propose this one. */
typedef const char *nearest_name_at(const void *names, size_t index);

/* NULL: more than half of the name would have to be changed for any of them. */
const char *nearest_name(const char *name, nearest_name_at *name_at, const void *names,
                         size_t count);

#endif
