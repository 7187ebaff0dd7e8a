/* Copies of one and two dimensions with CUDA arrays. CUDA Runtime API, "Memory Management". Those
 * of three are in copy.c. Offsets are in bytes and rows. */
#include "runtime/device/cudart/runtime.h"

#include <string.h>

/* A box of bytes, and how its copy is made. */
struct box {
    CUDA_MEMCPY2D what;
    enum flavor flavor;
    cudaStream_t stream;
    bool async;
};

static CUmemorytype other_side(enum cudaMemcpyKind kind, enum cudaMemcpyKind host)
{
    return kind == cudaMemcpyDefault ? CU_MEMORYTYPE_UNIFIED
           : kind == host            ? CU_MEMORYTYPE_HOST
                                     : CU_MEMORYTYPE_DEVICE;
}

static void from_memory(CUDA_MEMCPY2D *what, const void *from, size_t pitch,
                        enum cudaMemcpyKind kind)
{
    what->srcMemoryType = other_side(kind, cudaMemcpyHostToDevice);
    what->srcHost = from;
    what->srcDevice = (CUdeviceptr)from;
    what->srcPitch = pitch;
}

static void to_memory(CUDA_MEMCPY2D *what, void *to, size_t pitch, enum cudaMemcpyKind kind)
{
    what->dstMemoryType = other_side(kind, cudaMemcpyDeviceToHost);
    what->dstHost = to;
    what->dstDevice = (CUdeviceptr)to;
    what->dstPitch = pitch;
}

static void from_array(CUDA_MEMCPY2D *what, cudaArray_const_t array, size_t x, size_t y)
{
    what->srcMemoryType = CU_MEMORYTYPE_ARRAY;
    what->srcArray = (CUarray)array;
    what->srcXInBytes = x;
    what->srcY = y;
}

static void to_array(CUDA_MEMCPY2D *what, cudaArray_const_t array, size_t x, size_t y)
{
    what->dstMemoryType = CU_MEMORYTYPE_ARRAY;
    what->dstArray = (CUarray)array;
    what->dstXInBytes = x;
    what->dstY = y;
}

static cudaError_t run(const struct box *box)
{
    if (box->what.WidthInBytes == 0 || box->what.Height == 0)
        return cudaSuccess;
    return error_from(box->async ? driver.cuMemcpy2DAsync[box->flavor](&box->what, box->stream)
                                 : driver.cuMemcpy2DUnaligned[box->flavor](&box->what));
}

/* To an array, `wrong` is the direction from it, and the other way round. */
static cudaError_t check_kind(enum cudaMemcpyKind kind, enum cudaMemcpyKind wrong)
{
    return (unsigned)kind <= cudaMemcpyDefault && kind != wrong && kind != cudaMemcpyHostToHost
               ? cudaSuccess
               : error_record(cudaErrorInvalidMemcpyDirection);
}

/* ---- Two dimensions ---- */

static cudaError_t box_to_array(struct box *box, cudaArray_t to, size_t x, size_t y,
                                const void *from, size_t pitch, enum cudaMemcpyKind kind)
{
    ENTER();
    if (check_kind(kind, cudaMemcpyDeviceToHost) != cudaSuccess)
        return cudaErrorInvalidMemcpyDirection;
    if (pitch < box->what.WidthInBytes)
        return error_record(cudaErrorInvalidPitchValue);
    from_memory(&box->what, from, pitch, kind);
    to_array(&box->what, to, x, y);
    return run(box);
}

static cudaError_t box_from_array(struct box *box, void *to, size_t pitch, cudaArray_const_t from,
                                  size_t x, size_t y, enum cudaMemcpyKind kind)
{
    ENTER();
    if (check_kind(kind, cudaMemcpyHostToDevice) != cudaSuccess)
        return cudaErrorInvalidMemcpyDirection;
    if (pitch < box->what.WidthInBytes)
        return error_record(cudaErrorInvalidPitchValue);
    from_array(&box->what, from, x, y);
    to_memory(&box->what, to, pitch, kind);
    return run(box);
}

#define BOX(width, height, ...)                                                                    \
    struct box box = {                                                                             \
        .what = {.WidthInBytes = width, .Height = height}, .flavor = flavor, __VA_ARGS__}

static cudaError_t to_array_2d(enum flavor flavor, cudaArray_t to, size_t x, size_t y,
                               const void *from, size_t pitch, size_t width, size_t height,
                               enum cudaMemcpyKind kind)
{
    BOX(width, height, .async = false);
    return box_to_array(&box, to, x, y, from, pitch, kind);
}
BOTH(cudaMemcpy2DToArray, _ptds, to_array_2d,
     (cudaArray_t to, size_t x, size_t y, const void *from, size_t pitch, size_t width,
      size_t height, enum cudaMemcpyKind kind),
     to, x, y, from, pitch, width, height, kind)

static cudaError_t to_array_2d_async(enum flavor flavor, cudaArray_t to, size_t x, size_t y,
                                     const void *from, size_t pitch, size_t width, size_t height,
                                     enum cudaMemcpyKind kind, cudaStream_t stream)
{
    BOX(width, height, .async = true, .stream = stream);
    return box_to_array(&box, to, x, y, from, pitch, kind);
}
BOTH(cudaMemcpy2DToArrayAsync, _ptsz, to_array_2d_async,
     (cudaArray_t to, size_t x, size_t y, const void *from, size_t pitch, size_t width,
      size_t height, enum cudaMemcpyKind kind, cudaStream_t stream),
     to, x, y, from, pitch, width, height, kind, stream)

static cudaError_t from_array_2d(enum flavor flavor, void *to, size_t pitch, cudaArray_const_t from,
                                 size_t x, size_t y, size_t width, size_t height,
                                 enum cudaMemcpyKind kind)
{
    BOX(width, height, .async = false);
    return box_from_array(&box, to, pitch, from, x, y, kind);
}
BOTH(cudaMemcpy2DFromArray, _ptds, from_array_2d,
     (void *to, size_t pitch, cudaArray_const_t from, size_t x, size_t y, size_t width,
      size_t height, enum cudaMemcpyKind kind),
     to, pitch, from, x, y, width, height, kind)

static cudaError_t from_array_2d_async(enum flavor flavor, void *to, size_t pitch,
                                       cudaArray_const_t from, size_t x, size_t y, size_t width,
                                       size_t height, enum cudaMemcpyKind kind, cudaStream_t stream)
{
    BOX(width, height, .async = true, .stream = stream);
    return box_from_array(&box, to, pitch, from, x, y, kind);
}
BOTH(cudaMemcpy2DFromArrayAsync, _ptsz, from_array_2d_async,
     (void *to, size_t pitch, cudaArray_const_t from, size_t x, size_t y, size_t width,
      size_t height, enum cudaMemcpyKind kind, cudaStream_t stream),
     to, pitch, from, x, y, width, height, kind, stream)

static cudaError_t between_arrays_2d(enum flavor flavor, cudaArray_t to, size_t to_x, size_t to_y,
                                     cudaArray_const_t from, size_t x, size_t y, size_t width,
                                     size_t height, enum cudaMemcpyKind kind)
{
    BOX(width, height, .async = false);
    ENTER();
    if (kind != cudaMemcpyDeviceToDevice && kind != cudaMemcpyDefault)
        return error_record(cudaErrorInvalidMemcpyDirection);
    from_array(&box.what, from, x, y);
    to_array(&box.what, to, to_x, to_y);
    return run(&box);
}
BOTH(cudaMemcpy2DArrayToArray, _ptds, between_arrays_2d,
     (cudaArray_t to, size_t to_x, size_t to_y, cudaArray_const_t from, size_t x, size_t y,
      size_t width, size_t height, enum cudaMemcpyKind kind),
     to, to_x, to_y, from, x, y, width, height, kind)

/* ---- One dimension: bytes in the order of rows ---- */

static cudaError_t row_bytes_of(cudaArray_const_t array, size_t *bytes)
{
    CUDA_ARRAY3D_DESCRIPTOR shape;
    size_t element = 0;
    cudaError_t error = array_element_bytes(array, &element);
    if (error == cudaSuccess)
        error = error_from(driver.cuArray3DGetDescriptor[0](&shape, (CUarray)array));
    if (error == cudaSuccess)
        *bytes = shape.Width * element;
    return error;
}

/* The next box of `count` bytes from (x, y) on: the rest of a row, or whole rows. */
static void next_box(size_t row, size_t x, size_t count, size_t *width, size_t *height)
{
    const bool whole = row && x == 0 && count >= row;
    *height = whole ? count / row : 1;
    *width = whole ? row : row - x;
    if (*width > count)
        *width = count;
}

/* Calls one of the two for each box. */
static cudaError_t in_boxes(struct box *box, cudaArray_const_t array, void *memory, size_t x,
                            size_t y, size_t count, enum cudaMemcpyKind kind, bool to)
{
    size_t row = 0, width = 0, height = 0;
    ENTER();
    cudaError_t error = row_bytes_of(array, &row);
    if (error == cudaSuccess && x >= row && count)
        error = error_record(cudaErrorInvalidValue);
    for (char *at = memory; error == cudaSuccess && count; at += width * height) {
        next_box(row, x, count, &width, &height);
        memset(&box->what, 0, sizeof box->what);
        box->what.WidthInBytes = width;
        box->what.Height = height;
        error = to ? box_to_array(box, (cudaArray_t)array, x, y, at, width, kind)
                   : box_from_array(box, at, width, array, x, y, kind);
        count -= width * height;
        y += height;
        x = 0;
    }
    return error;
}

static cudaError_t to_array_1d(enum flavor flavor, cudaArray_t to, size_t x, size_t y,
                               const void *from, size_t count, enum cudaMemcpyKind kind)
{
    BOX(0, 0, .async = false);
    return in_boxes(&box, to, (void *)from, x, y, count, kind, true);
}
BOTH(cudaMemcpyToArray, _ptds, to_array_1d,
     (cudaArray_t to, size_t x, size_t y, const void *from, size_t count, enum cudaMemcpyKind kind),
     to, x, y, from, count, kind)

static cudaError_t to_array_1d_async(enum flavor flavor, cudaArray_t to, size_t x, size_t y,
                                     const void *from, size_t count, enum cudaMemcpyKind kind,
                                     cudaStream_t stream)
{
    BOX(0, 0, .async = true, .stream = stream);
    return in_boxes(&box, to, (void *)from, x, y, count, kind, true);
}
BOTH(cudaMemcpyToArrayAsync, _ptsz, to_array_1d_async,
     (cudaArray_t to, size_t x, size_t y, const void *from, size_t count, enum cudaMemcpyKind kind,
      cudaStream_t stream),
     to, x, y, from, count, kind, stream)

static cudaError_t from_array_1d(enum flavor flavor, void *to, cudaArray_const_t from, size_t x,
                                 size_t y, size_t count, enum cudaMemcpyKind kind)
{
    BOX(0, 0, .async = false);
    return in_boxes(&box, from, to, x, y, count, kind, false);
}
BOTH(cudaMemcpyFromArray, _ptds, from_array_1d,
     (void *to, cudaArray_const_t from, size_t x, size_t y, size_t count, enum cudaMemcpyKind kind),
     to, from, x, y, count, kind)

static cudaError_t from_array_1d_async(enum flavor flavor, void *to, cudaArray_const_t from,
                                       size_t x, size_t y, size_t count, enum cudaMemcpyKind kind,
                                       cudaStream_t stream)
{
    BOX(0, 0, .async = true, .stream = stream);
    return in_boxes(&box, from, to, x, y, count, kind, false);
}
BOTH(cudaMemcpyFromArrayAsync, _ptsz, from_array_1d_async,
     (void *to, cudaArray_const_t from, size_t x, size_t y, size_t count, enum cudaMemcpyKind kind,
      cudaStream_t stream),
     to, from, x, y, count, kind, stream)

/* The pieces that lie in one row of both. */
static cudaError_t between_arrays_1d(enum flavor flavor, cudaArray_t to, size_t to_x, size_t to_y,
                                     cudaArray_const_t from, size_t x, size_t y, size_t count,
                                     enum cudaMemcpyKind kind)
{
    size_t from_row = 0, to_row = 0;
    ENTER();
    cudaError_t error = row_bytes_of(from, &from_row);
    if (error == cudaSuccess)
        error = row_bytes_of(to, &to_row);
    if (error == cudaSuccess && count && (x >= from_row || to_x >= to_row))
        error = error_record(cudaErrorInvalidValue);
    while (error == cudaSuccess && count) {
        size_t width = from_row - x < to_row - to_x ? from_row - x : to_row - to_x;
        width = width < count ? width : count;
        error = between_arrays_2d(flavor, to, to_x, to_y, from, x, y, width, 1, kind);
        count -= width;
        x += width;
        to_x += width;
        y += x == from_row;
        to_y += to_x == to_row;
        x %= from_row;
        to_x %= to_row;
    }
    return error;
}
BOTH(cudaMemcpyArrayToArray, _ptds, between_arrays_1d,
     (cudaArray_t to, size_t to_x, size_t to_y, cudaArray_const_t from, size_t x, size_t y,
      size_t count, enum cudaMemcpyKind kind),
     to, to_x, to_y, from, x, y, count, kind)
