/* Copies and sets of linear memory, variables and pitched memory; and those of three dimensions
 * with CUDA arrays, whose others are in copy_array.c. CUDA Runtime API, "Memory Management". */
#include "runtime/device/cudart/runtime.h"

static cudaError_t check_kind(enum cudaMemcpyKind kind)
{
    return (unsigned)kind <= cudaMemcpyDefault ? cudaSuccess
                                               : error_record(cudaErrorInvalidMemcpyDirection);
}

/* ---- One dimension ---- */

static cudaError_t copy(enum flavor flavor, void *to, const void *from, size_t count,
                        enum cudaMemcpyKind kind)
{
    ENTER();
    if (check_kind(kind) != cudaSuccess)
        return cudaErrorInvalidMemcpyDirection;
    if (count == 0)
        return cudaSuccess;
    switch (kind) {
    case cudaMemcpyHostToDevice:
        return error_from(driver.cuMemcpyHtoD[flavor]((CUdeviceptr)to, from, count));
    case cudaMemcpyDeviceToHost:
        return error_from(driver.cuMemcpyDtoH[flavor](to, (CUdeviceptr)from, count));
    case cudaMemcpyDeviceToDevice:
        return error_from(driver.cuMemcpyDtoD[flavor]((CUdeviceptr)to, (CUdeviceptr)from, count));
    default: /* the driver distinguishes host from device by the addresses */
        return error_from(driver.cuMemcpy[flavor]((CUdeviceptr)to, (CUdeviceptr)from, count));
    }
}
BOTH(cudaMemcpy, _ptds, copy, (void *to, const void *from, size_t count, enum cudaMemcpyKind kind),
     to, from, count, kind)

static cudaError_t copy_async(enum flavor flavor, void *to, const void *from, size_t count,
                              enum cudaMemcpyKind kind, cudaStream_t stream)
{
    ENTER();
    if (check_kind(kind) != cudaSuccess)
        return cudaErrorInvalidMemcpyDirection;
    if (count == 0)
        return cudaSuccess;
    switch (kind) {
    case cudaMemcpyHostToDevice:
        return error_from(driver.cuMemcpyHtoDAsync[flavor]((CUdeviceptr)to, from, count, stream));
    case cudaMemcpyDeviceToHost:
        return error_from(driver.cuMemcpyDtoHAsync[flavor](to, (CUdeviceptr)from, count, stream));
    case cudaMemcpyDeviceToDevice:
        return error_from(
            driver.cuMemcpyDtoDAsync[flavor]((CUdeviceptr)to, (CUdeviceptr)from, count, stream));
    default:
        return error_from(
            driver.cuMemcpyAsync[flavor]((CUdeviceptr)to, (CUdeviceptr)from, count, stream));
    }
}
BOTH(cudaMemcpyAsync, _ptsz, copy_async,
     (void *to, const void *from, size_t count, enum cudaMemcpyKind kind, cudaStream_t stream), to,
     from, count, kind, stream)

/* ---- Variables ---- */

/* The bytes [offset, offset + count) of a variable. */
cudaError_t copy_part_of(const void *symbol, size_t count, size_t offset, void **address)
{
    CUdeviceptr base = 0;
    size_t bytes = 0;
    ENTER();
    cudaError_t error = registry_variable(symbol, &base, &bytes);
    if (error != cudaSuccess)
        return error;
    if (offset > bytes || count > bytes - offset)
        return error_record(cudaErrorInvalidValue);
    *address = (void *)(base + offset);
    return cudaSuccess;
}

static cudaError_t copy_to_symbol(enum flavor flavor, const void *symbol, const void *from,
                                  size_t count, size_t offset, enum cudaMemcpyKind kind)
{
    void *to = NULL;
    if (kind == cudaMemcpyDeviceToHost || kind == cudaMemcpyHostToHost)
        return error_record(cudaErrorInvalidMemcpyDirection);
    cudaError_t error = copy_part_of(symbol, count, offset, &to);
    return error != cudaSuccess ? error : copy(flavor, to, from, count, kind);
}
BOTH(cudaMemcpyToSymbol, _ptds, copy_to_symbol,
     (const void *symbol, const void *from, size_t count, size_t offset, enum cudaMemcpyKind kind),
     symbol, from, count, offset, kind)

static cudaError_t copy_from_symbol(enum flavor flavor, void *to, const void *symbol, size_t count,
                                    size_t offset, enum cudaMemcpyKind kind)
{
    void *from = NULL;
    if (kind == cudaMemcpyHostToDevice || kind == cudaMemcpyHostToHost)
        return error_record(cudaErrorInvalidMemcpyDirection);
    cudaError_t error = copy_part_of(symbol, count, offset, &from);
    return error != cudaSuccess ? error : copy(flavor, to, from, count, kind);
}
BOTH(cudaMemcpyFromSymbol, _ptds, copy_from_symbol,
     (void *to, const void *symbol, size_t count, size_t offset, enum cudaMemcpyKind kind), to,
     symbol, count, offset, kind)

static cudaError_t copy_to_symbol_async(enum flavor flavor, const void *symbol, const void *from,
                                        size_t count, size_t offset, enum cudaMemcpyKind kind,
                                        cudaStream_t stream)
{
    void *to = NULL;
    if (kind == cudaMemcpyDeviceToHost || kind == cudaMemcpyHostToHost)
        return error_record(cudaErrorInvalidMemcpyDirection);
    cudaError_t error = copy_part_of(symbol, count, offset, &to);
    return error != cudaSuccess ? error : copy_async(flavor, to, from, count, kind, stream);
}
BOTH(cudaMemcpyToSymbolAsync, _ptsz, copy_to_symbol_async,
     (const void *symbol, const void *from, size_t count, size_t offset, enum cudaMemcpyKind kind,
      cudaStream_t stream),
     symbol, from, count, offset, kind, stream)

static cudaError_t copy_from_symbol_async(enum flavor flavor, void *to, const void *symbol,
                                          size_t count, size_t offset, enum cudaMemcpyKind kind,
                                          cudaStream_t stream)
{
    void *from = NULL;
    if (kind == cudaMemcpyHostToDevice || kind == cudaMemcpyHostToHost)
        return error_record(cudaErrorInvalidMemcpyDirection);
    cudaError_t error = copy_part_of(symbol, count, offset, &from);
    return error != cudaSuccess ? error : copy_async(flavor, to, from, count, kind, stream);
}
BOTH(cudaMemcpyFromSymbolAsync, _ptsz, copy_from_symbol_async,
     (void *to, const void *symbol, size_t count, size_t offset, enum cudaMemcpyKind kind,
      cudaStream_t stream),
     to, symbol, count, offset, kind, stream)

/* ---- Two and three dimensions ---- */

static CUmemorytype source_type(enum cudaMemcpyKind kind)
{
    if (kind == cudaMemcpyDefault)
        return CU_MEMORYTYPE_UNIFIED;
    return kind == cudaMemcpyHostToHost || kind == cudaMemcpyHostToDevice ? CU_MEMORYTYPE_HOST
                                                                          : CU_MEMORYTYPE_DEVICE;
}

static CUmemorytype target_type(enum cudaMemcpyKind kind)
{
    if (kind == cudaMemcpyDefault)
        return CU_MEMORYTYPE_UNIFIED;
    return kind == cudaMemcpyHostToHost || kind == cudaMemcpyDeviceToHost ? CU_MEMORYTYPE_HOST
                                                                          : CU_MEMORYTYPE_DEVICE;
}

static CUDA_MEMCPY2D copy_2d(void *to, size_t to_pitch, const void *from, size_t from_pitch,
                             size_t width, size_t height, enum cudaMemcpyKind kind)
{
    return (CUDA_MEMCPY2D){.srcMemoryType = source_type(kind),
                           .srcHost = from,
                           .srcDevice = (CUdeviceptr)from,
                           .srcPitch = from_pitch,
                           .dstMemoryType = target_type(kind),
                           .dstHost = to,
                           .dstDevice = (CUdeviceptr)to,
                           .dstPitch = to_pitch,
                           .WidthInBytes = width,
                           .Height = height};
}

static cudaError_t check_2d(size_t to_pitch, size_t from_pitch, size_t width,
                            enum cudaMemcpyKind kind)
{
    ENTER();
    if (check_kind(kind) != cudaSuccess)
        return cudaErrorInvalidMemcpyDirection;
    return width > to_pitch || width > from_pitch ? error_record(cudaErrorInvalidPitchValue)
                                                  : cudaSuccess;
}

static cudaError_t copy2d(enum flavor flavor, void *to, size_t to_pitch, const void *from,
                          size_t from_pitch, size_t width, size_t height, enum cudaMemcpyKind kind)
{
    CUDA_MEMCPY2D what = copy_2d(to, to_pitch, from, from_pitch, width, height, kind);
    cudaError_t error = check_2d(to_pitch, from_pitch, width, kind);
    if (error != cudaSuccess || width == 0 || height == 0)
        return error;
    return error_from(driver.cuMemcpy2DUnaligned[flavor](&what));
}
BOTH(cudaMemcpy2D, _ptds, copy2d,
     (void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width, size_t height,
      enum cudaMemcpyKind kind),
     to, to_pitch, from, from_pitch, width, height, kind)

static cudaError_t copy2d_async(enum flavor flavor, void *to, size_t to_pitch, const void *from,
                                size_t from_pitch, size_t width, size_t height,
                                enum cudaMemcpyKind kind, cudaStream_t stream)
{
    CUDA_MEMCPY2D what = copy_2d(to, to_pitch, from, from_pitch, width, height, kind);
    cudaError_t error = check_2d(to_pitch, from_pitch, width, kind);
    if (error != cudaSuccess || width == 0 || height == 0)
        return error;
    return error_from(driver.cuMemcpy2DAsync[flavor](&what, stream));
}
BOTH(cudaMemcpy2DAsync, _ptsz, copy2d_async,
     (void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width, size_t height,
      enum cudaMemcpyKind kind, cudaStream_t stream),
     to, to_pitch, from, from_pitch, width, height, kind, stream)

/* "If a CUDA array is participating in the copy, the extent is defined in terms of that array's
 * elements", and so is the position in it (cudaMemcpy3D). */
static cudaError_t describe_arrays(const struct cudaMemcpy3DParms *p, CUDA_MEMCPY3D *what)
{
    size_t from = 1, to = 1;
    cudaError_t error = p->srcArray ? array_element_bytes(p->srcArray, &from) : cudaSuccess;
    if (error == cudaSuccess && p->dstArray)
        error = array_element_bytes(p->dstArray, &to);
    if (error != cudaSuccess)
        return error;
    if (p->srcArray) {
        what->srcMemoryType = CU_MEMORYTYPE_ARRAY;
        what->srcArray = (CUarray)p->srcArray;
        what->srcXInBytes *= from;
    }
    if (p->dstArray) {
        what->dstMemoryType = CU_MEMORYTYPE_ARRAY;
        what->dstArray = (CUarray)p->dstArray;
        what->dstXInBytes *= to;
    }
    what->WidthInBytes *= p->srcArray ? from : to;
    return p->srcArray && p->dstArray && from != to ? error_record(cudaErrorInvalidValue)
                                                    : cudaSuccess;
}

/* cudaSuccess and the driver's description, or why there is none. */
cudaError_t copy_describe(const struct cudaMemcpy3DParms *p, CUDA_MEMCPY3D *what)
{
    ENTER();
    if (!p)
        return error_record(cudaErrorInvalidValue);
    if (check_kind(p->kind) != cudaSuccess)
        return cudaErrorInvalidMemcpyDirection;
    *what = (CUDA_MEMCPY3D){.srcXInBytes = p->srcPos.x,
                            .srcY = p->srcPos.y,
                            .srcZ = p->srcPos.z,
                            .srcMemoryType = source_type(p->kind),
                            .srcHost = p->srcPtr.ptr,
                            .srcDevice = (CUdeviceptr)p->srcPtr.ptr,
                            .srcPitch = p->srcPtr.pitch,
                            .srcHeight = p->srcPtr.ysize,
                            .dstXInBytes = p->dstPos.x,
                            .dstY = p->dstPos.y,
                            .dstZ = p->dstPos.z,
                            .dstMemoryType = target_type(p->kind),
                            .dstHost = p->dstPtr.ptr,
                            .dstDevice = (CUdeviceptr)p->dstPtr.ptr,
                            .dstPitch = p->dstPtr.pitch,
                            .dstHeight = p->dstPtr.ysize,
                            .WidthInBytes = p->extent.width,
                            .Height = p->extent.height,
                            .Depth = p->extent.depth};
    return p->srcArray || p->dstArray ? describe_arrays(p, what) : cudaSuccess;
}

static void *memory_of(CUmemorytype type, const void *host, CUdeviceptr address)
{
    return type == CU_MEMORYTYPE_ARRAY  ? NULL
           : type == CU_MEMORYTYPE_HOST ? (void *)host
                                        : (void *)address;
}

cudaError_t copy_parameters(const CUDA_MEMCPY3D *what, struct cudaMemcpy3DParms *p)
{
    size_t element = 1;
    CUarray array = what->srcArray ? what->srcArray : what->dstArray;
    cudaError_t error = array ? array_element_bytes((cudaArray_t)array, &element) : cudaSuccess;
    if (error != cudaSuccess)
        return error;
    const void *from = memory_of(what->srcMemoryType, what->srcHost, what->srcDevice);
    const void *to = memory_of(what->dstMemoryType, what->dstHost, what->dstDevice);
    *p = (struct cudaMemcpy3DParms){
        .srcArray = (cudaArray_t)what->srcArray,
        .srcPos = {what->srcXInBytes / (what->srcArray ? element : 1), what->srcY, what->srcZ},
        .dstArray = (cudaArray_t)what->dstArray,
        .dstPos = {what->dstXInBytes / (what->dstArray ? element : 1), what->dstY, what->dstZ},
        .extent = {what->WidthInBytes / element, what->Height, what->Depth},
        .kind = cudaMemcpyDefault};
    if (from)
        p->srcPtr = (struct cudaPitchedPtr){(void *)from, what->srcPitch, what->WidthInBytes,
                                            what->srcHeight};
    if (to)
        p->dstPtr = (struct cudaPitchedPtr){(void *)to, what->dstPitch, what->WidthInBytes,
                                            what->dstHeight};
    return cudaSuccess;
}

static bool is_empty(const CUDA_MEMCPY3D *what)
{
    return what->WidthInBytes == 0 || what->Height == 0 || what->Depth == 0;
}

static cudaError_t copy3d(enum flavor flavor, const struct cudaMemcpy3DParms *p)
{
    CUDA_MEMCPY3D what;
    cudaError_t error = copy_describe(p, &what);
    if (error != cudaSuccess || is_empty(&what))
        return error;
    return error_from(driver.cuMemcpy3D[flavor](&what));
}
BOTH(cudaMemcpy3D, _ptds, copy3d, (const struct cudaMemcpy3DParms *p), p)

static cudaError_t copy3d_async(enum flavor flavor, const struct cudaMemcpy3DParms *p,
                                cudaStream_t stream)
{
    CUDA_MEMCPY3D what;
    cudaError_t error = copy_describe(p, &what);
    if (error != cudaSuccess || is_empty(&what))
        return error;
    return error_from(driver.cuMemcpy3DAsync[flavor](&what, stream));
}
BOTH(cudaMemcpy3DAsync, _ptsz, copy3d_async,
     (const struct cudaMemcpy3DParms *p, cudaStream_t stream), p, stream)

/* ---- Between devices ---- */

static cudaError_t two_contexts(int to, int from, CUcontext *to_context, CUcontext *from_context)
{
    ENTER();
    cudaError_t error = runtime_context(to, to_context);
    return error != cudaSuccess ? error : runtime_context(from, from_context);
}

API cudaError_t cudaMemcpyPeer(void *to, int to_device, const void *from, int from_device,
                               size_t count)
{
    CUcontext to_context = NULL, from_context = NULL;
    cudaError_t error = two_contexts(to_device, from_device, &to_context, &from_context);
    return error != cudaSuccess || count == 0
               ? error
               : error_from(driver.cuMemcpyPeer[LEGACY]((CUdeviceptr)to, to_context,
                                                        (CUdeviceptr)from, from_context, count));
}

API cudaError_t cudaMemcpyPeerAsync(void *to, int to_device, const void *from, int from_device,
                                    size_t count, cudaStream_t stream)
{
    CUcontext to_context = NULL, from_context = NULL;
    cudaError_t error = two_contexts(to_device, from_device, &to_context, &from_context);
    return error != cudaSuccess || count == 0
               ? error
               : error_from(driver.cuMemcpyPeerAsync[LEGACY](
                     (CUdeviceptr)to, to_context, (CUdeviceptr)from, from_context, count, stream));
}

/* ---- Sets ---- */

static cudaError_t set(enum flavor flavor, void *to, int value, size_t count)
{
    ENTER();
    if (count == 0)
        return cudaSuccess;
    return error_from(driver.cuMemsetD8[flavor]((CUdeviceptr)to, (unsigned char)value, count));
}
BOTH(cudaMemset, _ptds, set, (void *to, int value, size_t count), to, value, count)

static cudaError_t set_async(enum flavor flavor, void *to, int value, size_t count,
                             cudaStream_t stream)
{
    ENTER();
    if (count == 0)
        return cudaSuccess;
    return error_from(
        driver.cuMemsetD8Async[flavor]((CUdeviceptr)to, (unsigned char)value, count, stream));
}
BOTH(cudaMemsetAsync, _ptsz, set_async, (void *to, int value, size_t count, cudaStream_t stream),
     to, value, count, stream)

static cudaError_t set2d(enum flavor flavor, void *to, size_t pitch, int value, size_t width,
                         size_t height)
{
    ENTER();
    if (width == 0 || height == 0)
        return cudaSuccess;
    return error_from(
        driver.cuMemsetD2D8[flavor]((CUdeviceptr)to, pitch, (unsigned char)value, width, height));
}
BOTH(cudaMemset2D, _ptds, set2d, (void *to, size_t pitch, int value, size_t width, size_t height),
     to, pitch, value, width, height)

static cudaError_t set2d_async(enum flavor flavor, void *to, size_t pitch, int value, size_t width,
                               size_t height, cudaStream_t stream)
{
    ENTER();
    if (width == 0 || height == 0)
        return cudaSuccess;
    return error_from(driver.cuMemsetD2D8Async[flavor]((CUdeviceptr)to, pitch, (unsigned char)value,
                                                       width, height, stream));
}
BOTH(cudaMemset2DAsync, _ptsz, set2d_async,
     (void *to, size_t pitch, int value, size_t width, size_t height, cudaStream_t stream), to,
     pitch, value, width, height, stream)

/* A box is set slice by slice; where the slices follow each other without a gap, at once. */
static bool is_one_piece(const struct cudaPitchedPtr *to, const struct cudaExtent *extent)
{
    return extent->height == to->ysize || extent->depth <= 1;
}

static cudaError_t set3d(enum flavor flavor, struct cudaPitchedPtr to, int value,
                         struct cudaExtent extent)
{
    if (is_one_piece(&to, &extent))
        return set2d(flavor, to.ptr, to.pitch, value, extent.width, extent.height * extent.depth);
    cudaError_t error = cudaSuccess;
    for (size_t z = 0; z < extent.depth && error == cudaSuccess; z++)
        error = set2d(flavor, (char *)to.ptr + z * to.pitch * to.ysize, to.pitch, value,
                      extent.width, extent.height);
    return error;
}
BOTH(cudaMemset3D, _ptds, set3d, (struct cudaPitchedPtr to, int value, struct cudaExtent extent),
     to, value, extent)

static cudaError_t set3d_async(enum flavor flavor, struct cudaPitchedPtr to, int value,
                               struct cudaExtent extent, cudaStream_t stream)
{
    if (is_one_piece(&to, &extent))
        return set2d_async(flavor, to.ptr, to.pitch, value, extent.width,
                           extent.height * extent.depth, stream);
    cudaError_t error = cudaSuccess;
    for (size_t z = 0; z < extent.depth && error == cudaSuccess; z++)
        error = set2d_async(flavor, (char *)to.ptr + z * to.pitch * to.ysize, to.pitch, value,
                            extent.width, extent.height, stream);
    return error;
}
BOTH(cudaMemset3DAsync, _ptsz, set3d_async,
     (struct cudaPitchedPtr to, int value, struct cudaExtent extent, cudaStream_t stream), to,
     value, extent, stream)

/* ---- In batches ---- */

_Static_assert(sizeof(struct cudaMemcpyAttributes) == sizeof(CUmemcpyAttributes) &&
                   sizeof(struct cudaMemcpy3DBatchOp) == sizeof(CUDA_MEMCPY3D_BATCH_OP) &&
                   offsetof(struct cudaMemcpy3DBatchOp, extent) ==
                       offsetof(CUDA_MEMCPY3D_BATCH_OP, extent),
               "the runtime's structs are the driver's");

static cudaError_t copy_batch(enum flavor flavor, void *const *dsts, const void *const *srcs,
                              const size_t *sizes, size_t count, struct cudaMemcpyAttributes *attrs,
                              size_t *indices, size_t sets, cudaStream_t stream)
{
    ENTER();
    return error_from(driver.cuMemcpyBatchAsync[flavor](
        (CUdeviceptr *)(uintptr_t)dsts, (CUdeviceptr *)(uintptr_t)srcs, (size_t *)(uintptr_t)sizes,
        count, (CUmemcpyAttributes *)attrs, indices, sets, stream));
}
BOTH(cudaMemcpyBatchAsync, _ptsz, copy_batch,
     (void *const *dsts, const void *const *srcs, const size_t *sizes, size_t count,
      struct cudaMemcpyAttributes *attrs, size_t *attrsIdxs, size_t numAttrs, cudaStream_t stream),
     dsts, srcs, sizes, count, attrs, attrsIdxs, numAttrs, stream)

static cudaError_t copy_3d_batch(enum flavor flavor, size_t count, struct cudaMemcpy3DBatchOp *list,
                                 unsigned long long flags, cudaStream_t stream)
{
    ENTER();
    return error_from(
        driver.cuMemcpy3DBatchAsync[flavor](count, (CUDA_MEMCPY3D_BATCH_OP *)list, flags, stream));
}
BOTH(cudaMemcpy3DBatchAsync, _ptsz, copy_3d_batch,
     (size_t numOps, struct cudaMemcpy3DBatchOp *opList, unsigned long long flags,
      cudaStream_t stream),
     numOps, opList, flags, stream)

/* Functions of CUDA 13.2, which its headers declare. */

static cudaError_t copy_with_attributes(enum flavor flavor, void *target, const void *source,
                                        size_t bytes, struct cudaMemcpyAttributes *attributes,
                                        cudaStream_t stream)
{
    ENTER();
    return error_from(driver.cuMemcpyWithAttributesAsync[flavor](
        (CUdeviceptr)target, (CUdeviceptr)source, bytes, (CUmemcpyAttributes *)attributes, stream));
}
BOTH(cudaMemcpyWithAttributesAsync, _ptsz, copy_with_attributes,
     (void *dst, const void *src, size_t size, struct cudaMemcpyAttributes *attr,
      cudaStream_t stream),
     dst, src, size, attr, stream)

static cudaError_t copy_3d_with_attributes(enum flavor flavor, struct cudaMemcpy3DBatchOp *op,
                                           unsigned long long flags, cudaStream_t stream)
{
    ENTER();
    return error_from(
        driver.cuMemcpy3DWithAttributesAsync[flavor]((CUDA_MEMCPY3D_BATCH_OP *)op, flags, stream));
}
BOTH(cudaMemcpy3DWithAttributesAsync, _ptsz, copy_3d_with_attributes,
     (struct cudaMemcpy3DBatchOp * op, unsigned long long flags, cudaStream_t stream), op, flags,
     stream)
