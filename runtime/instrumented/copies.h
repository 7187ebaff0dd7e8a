/* The C library's memcpy and its kind, which are announced to nobody. */
#ifndef RUNTIME_INSTRUMENTED_COPIES_H
#define RUNTIME_INSTRUMENTED_COPIES_H

#include <stddef.h>

struct copies {
    void *(*copy)(void *to, const void *from, size_t bytes);
    void *(*move)(void *to, const void *from, size_t bytes);
    void *(*set)(void *to, int value, size_t bytes);
    int (*compare)(const void *a, const void *b, size_t bytes);
};
extern struct copies copies_next;

#endif
