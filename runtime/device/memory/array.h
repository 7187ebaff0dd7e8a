/* CUDA arrays: texels in device memory, row after row and slice after slice, under a handle. No
 * address of the program leads there; copies, textures and surfaces do. */
#ifndef RUNTIME_DEVICE_MEMORY_ARRAY_H
#define RUNTIME_DEVICE_MEMORY_ARRAY_H

#include "runtime/device/driver/driver.h"
#include "runtime/device/exec/exec.h"

struct CUarray_st {
    struct object object;
    const struct CUctx_st *context;
    CUDA_ARRAY3D_DESCRIPTOR shape;
    struct exec_level level;
    uint64_t bytes;
    struct CUmipmappedArray_st *levels; /* that it is a level of; or NULL */
};

struct CUmipmappedArray_st {
    struct object object;
    const struct CUctx_st *context;
    CUDA_ARRAY3D_DESCRIPTOR shape;
    uint64_t base, bytes;
    unsigned count;
    struct CUarray_st *levels[EXEC_LEVELS];
};

/* The array of a handle, or NULL. */
struct CUarray_st *array_of(CUarray handle);
struct CUmipmappedArray_st *array_of_levels(CUmipmappedArray handle);

/* Bytes of a texel; 0: there is no array. */
size_t array_element_bytes(const struct CUarray_st *array);
/* A texel's format. False: none that the device has. */
bool array_format(CUarray_format format, unsigned channels, struct exec_texture *texels);
/* enum exec_shape, and whether the array is layered. */
void array_shape(const CUDA_ARRAY3D_DESCRIPTOR *shape, struct exec_texture *texels);

/* Frees the descriptors of the arrays that the program created in the context and did not destroy.
 * The arrays' device memory is freed by memory_forget, which comes after. */
void array_forget(const struct CUctx_st *context);

#endif
