/* Where the embedded device keeps a CUDA array. No address of the program reaches it, but traces of
 * kernels and copies name its bytes by these addresses. Symbol: device_array_layout of the embedded
 * libcuda.so.1. */
#ifndef RUNTIME_TRACE_ARRAY_LAYOUT_H
#define RUNTIME_TRACE_ARRAY_LAYOUT_H

#include <stdbool.h>
#include <stdint.h>

struct device_array_layout {
    uint64_t base;  /* address of the first byte */
    uint64_t pitch; /* bytes from row to row */
    uint64_t slice; /* bytes from layer, face or slice to the next */
    uint64_t bytes; /* of all */
};

/* Of a CUarray or, with all its levels, a CUmipmappedArray. False: there is no such array.
 * Thread-safe; not from inside a callback of the device. */
typedef bool device_array_layout_function(const void *array, struct device_array_layout *layout);
bool device_array_layout(const void *array, struct device_array_layout *layout);

#endif
