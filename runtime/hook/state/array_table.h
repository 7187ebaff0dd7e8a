/* CUDA arrays, which have no address. Each gets a range, row after row and layer after layer: where
 * no memory can be, or, on the embedded device, where that keeps it, since traces name it so. So
 * what copies and textures touch of it is checked as other memory is. Owns the table from handles
 * to ranges, of mipmapped arrays and their levels as well. Thread-safe, with a lock of its own. */
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

/* False: csan did not see its creation. The handle is a CUarray or a CUmipmappedArray. */
bool array_find(const void *handle, struct array_range *range);

/* A new array has that handle; fills in its base unless it has one. False: memory is short. */
bool array_made(const void *handle, struct array_range *range);
/* The array with that base is gone; its handle may be another's by now. */
void array_gone(const void *handle, uint64_t base);
/* So are the levels that lie in this range. */
void array_levels_gone(const struct array_range *range);

/* Bytes of a channel; 0: an element of that format is not whole bytes (CUDA Driver API,
 * CUarray_format). */
uint64_t array_channel_bytes(CUarray_format format);

#endif
