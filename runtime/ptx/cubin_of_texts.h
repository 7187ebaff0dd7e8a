/* A cubin that has no machine code, only texts of PTX, each in a section where ptxas -lineinfo
 * keeps one. What reads cubins reads this one, and a copy of it. The embedded device links so. */
#ifndef RUNTIME_PTX_CUBIN_OF_TEXTS_H
#define RUNTIME_PTX_CUBIN_OF_TEXTS_H

#include <stddef.h>

struct cubin_unit {
    const char *text;
    size_t bytes;
};

enum { CUBIN_UNITS_MAX = 1 << 14 };

/* Of `count` units, at most CUBIN_UNITS_MAX: *bytes of memory, to be freed by free(). NULL: memory
 * is short, or there are too many. Thread-safe. */
void *cubin_of_texts(const struct cubin_unit *units, size_t count, size_t *bytes);

#endif
