/* CUDA arrays, which have no address: each is given a range that no memory can be at, row after row
 * and layer after layer, so that what copies and textures touch of it is checked as any memory is.
 * Owns the table from handles to ranges; thread-safe, with a lock of its own. */
#ifndef RUNTIME_HOOK_STATE_ARRAY_TABLE_H
#define RUNTIME_HOOK_STATE_ARRAY_TABLE_H

#include "runtime/hook/interpose/driver.h"

struct array_range {
    uint64_t base;  /* of the bytes */
    uint64_t pitch; /* bytes of a row */
    uint64_t plane; /* bytes of a layer */
    uint64_t bytes;
    uint64_t element_bytes;
};

/* False: csan did not see it created, such as a level of a mipmapped array. */
bool array_find(CUarray handle, struct array_range *range);

/* A new array has that handle: fills in its base. False: there is no memory to keep it. */
bool array_made(CUarray handle, struct array_range *range);
/* The one with that base is gone; the handle may be another's by now. */
void array_gone(CUarray handle, uint64_t base);

/* Bytes of a channel; 0: of a format whose elements are no whole bytes (CUDA Driver API,
 * CUarray_format). */
uint64_t array_channel_bytes(CUarray_format format);

#endif
