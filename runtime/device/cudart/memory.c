/* Memory: allocations, host memory, managed memory, pools, and what a pointer points to.
 * CUDA Runtime API, "Memory Management", "Stream Ordered Memory Allocator", "Unified Addressing".
 */
#include "runtime/device/cudart/runtime.h"

#include <string.h>

enum { PITCH_ELEMENT = 16 }; /* cuMemAllocPitch: the largest access a kernel makes */

API cudaError_t cudaMalloc(void **pointer, size_t size)
{
    ENTER();
    if (!pointer)
        return error_record(cudaErrorInvalidValue);
    *pointer = NULL;
    return size == 0 ? cudaSuccess : error_from(driver.cuMemAlloc[0]((CUdeviceptr *)pointer, size));
}

/* Of no pointer the driver is asked too: the call is as unsafe in a capture as any other free. */
API cudaError_t cudaFree(void *pointer)
{
    ENTER();
    return error_from(driver.cuMemFree[0]((CUdeviceptr)pointer));
}

API cudaError_t cudaMallocPitch(void **pointer, size_t *pitch, size_t width, size_t height)
{
    ENTER();
    if (!pointer || !pitch)
        return error_record(cudaErrorInvalidValue);
    *pointer = NULL;
    *pitch = 0;
    if (width == 0 || height == 0)
        return cudaSuccess;
    return error_from(
        driver.cuMemAllocPitch[0]((CUdeviceptr *)pointer, pitch, width, height, PITCH_ELEMENT));
}

API cudaError_t cudaMalloc3D(struct cudaPitchedPtr *pitched, struct cudaExtent extent)
{
    size_t rows;
    if (!pitched || __builtin_mul_overflow(extent.height, extent.depth, &rows))
        return error_record(cudaErrorInvalidValue);
    pitched->xsize = extent.width;
    pitched->ysize = extent.height;
    return cudaMallocPitch(&pitched->ptr, &pitched->pitch, extent.width, rows);
}

API cudaError_t cudaMemGetInfo(size_t *free, size_t *total)
{
    ENTER();
    return error_from(driver.cuMemGetInfo[0](free, total));
}

/* ---- Host memory ---- */

API cudaError_t cudaHostAlloc(void **pointer, size_t size, unsigned int flags)
{
    ENTER();
    if (!pointer)
        return error_record(cudaErrorInvalidValue);
    *pointer = NULL;
    return size == 0 ? cudaSuccess : error_from(driver.cuMemHostAlloc[0](pointer, size, flags));
}

API cudaError_t cudaMallocHost(void **pointer, size_t size)
{
    ENTER();
    if (!pointer)
        return error_record(cudaErrorInvalidValue);
    *pointer = NULL;
    return size == 0 ? cudaSuccess : error_from(driver.cuMemAllocHost[0](pointer, size));
}

API cudaError_t cudaFreeHost(void *pointer)
{
    ENTER();
    return pointer ? error_from(driver.cuMemFreeHost[0](pointer)) : cudaSuccess;
}

API cudaError_t cudaHostRegister(void *pointer, size_t size, unsigned int flags)
{
    ENTER();
    return error_from(driver.cuMemHostRegister[0](pointer, size, flags));
}

API cudaError_t cudaHostUnregister(void *pointer)
{
    ENTER();
    return error_from(driver.cuMemHostUnregister[0](pointer));
}

API cudaError_t cudaHostGetDevicePointer(void **device, void *host, unsigned int flags)
{
    ENTER();
    return error_from(driver.cuMemHostGetDevicePointer[0]((CUdeviceptr *)device, host, flags));
}

API cudaError_t cudaHostGetFlags(unsigned int *flags, void *host)
{
    ENTER();
    return error_from(driver.cuMemHostGetFlags[0](flags, host));
}

/* ---- Managed memory ---- */

static CUmemLocation same_location(struct cudaMemLocation location)
{
    return (CUmemLocation){.type = (CUmemLocationType)location.type, .id = location.id};
}

API cudaError_t cudaMallocManaged(void **pointer, size_t size, unsigned int flags)
{
    ENTER();
    return error_from(driver.cuMemAllocManaged[0]((CUdeviceptr *)pointer, size, flags));
}

API cudaError_t cudaMemAdvise(const void *pointer, size_t count, enum cudaMemoryAdvise advice,
                              struct cudaMemLocation location)
{
    ENTER();
    return error_from(driver.cuMemAdvise[0]((CUdeviceptr)pointer, count, (CUmem_advise)advice,
                                            same_location(location)));
}

static cudaError_t prefetch(enum flavor flavor, const void *pointer, size_t count,
                            struct cudaMemLocation location, unsigned int flags,
                            cudaStream_t stream)
{
    ENTER();
    return error_from(driver.cuMemPrefetchAsync[flavor]((CUdeviceptr)pointer, count,
                                                        same_location(location), flags, stream));
}
BOTH(cudaMemPrefetchAsync, _ptsz, prefetch,
     (const void *pointer, size_t count, struct cudaMemLocation location, unsigned int flags,
      cudaStream_t stream),
     pointer, count, location, flags, stream)

_Static_assert(sizeof(struct cudaMemLocation) == sizeof(CUmemLocation), "one struct of two names");

static cudaError_t prefetch_batch(enum flavor flavor, void **pointers, size_t *sizes, size_t count,
                                  struct cudaMemLocation *locations, size_t *indices, size_t sets,
                                  unsigned long long flags, cudaStream_t stream)
{
    ENTER();
    return error_from(driver.cuMemPrefetchBatchAsync[flavor]((CUdeviceptr *)pointers, sizes, count,
                                                             (CUmemLocation *)locations, indices,
                                                             sets, flags, stream));
}
BOTH(cudaMemPrefetchBatchAsync, _ptsz, prefetch_batch,
     (void **dptrs, size_t *sizes, size_t count, struct cudaMemLocation *prefetchLocs,
      size_t *prefetchLocIdxs, size_t numPrefetchLocs, unsigned long long flags,
      cudaStream_t stream),
     dptrs, sizes, count, prefetchLocs, prefetchLocIdxs, numPrefetchLocs, flags, stream)

static cudaError_t discard_batch(enum flavor flavor, void **pointers, size_t *sizes, size_t count,
                                 unsigned long long flags, cudaStream_t stream)
{
    ENTER();
    return error_from(driver.cuMemDiscardBatchAsync[flavor]((CUdeviceptr *)pointers, sizes, count,
                                                            flags, stream));
}
BOTH(cudaMemDiscardBatchAsync, _ptsz, discard_batch,
     (void **dptrs, size_t *sizes, size_t count, unsigned long long flags, cudaStream_t stream),
     dptrs, sizes, count, flags, stream)

static cudaError_t discard_and_prefetch_batch(enum flavor flavor, void **pointers, size_t *sizes,
                                              size_t count, struct cudaMemLocation *locations,
                                              size_t *indices, size_t sets,
                                              unsigned long long flags, cudaStream_t stream)
{
    ENTER();
    return error_from(driver.cuMemDiscardAndPrefetchBatchAsync[flavor](
        (CUdeviceptr *)pointers, sizes, count, (CUmemLocation *)locations, indices, sets, flags,
        stream));
}
BOTH(cudaMemDiscardAndPrefetchBatchAsync, _ptsz, discard_and_prefetch_batch,
     (void **dptrs, size_t *sizes, size_t count, struct cudaMemLocation *prefetchLocs,
      size_t *prefetchLocIdxs, size_t numPrefetchLocs, unsigned long long flags,
      cudaStream_t stream),
     dptrs, sizes, count, prefetchLocs, prefetchLocIdxs, numPrefetchLocs, flags, stream)

API cudaError_t cudaMemRangeGetAttribute(void *data, size_t data_size,
                                         enum cudaMemRangeAttribute attribute, const void *pointer,
                                         size_t count)
{
    ENTER();
    return error_from(driver.cuMemRangeGetAttribute[0](
        data, data_size, (CUmem_range_attribute)attribute, (CUdeviceptr)pointer, count));
}

API cudaError_t cudaMemRangeGetAttributes(void **data, size_t *data_sizes,
                                          enum cudaMemRangeAttribute *attributes, size_t number,
                                          const void *pointer, size_t count)
{
    ENTER();
    return error_from(driver.cuMemRangeGetAttributes[0](data, data_sizes,
                                                        (CUmem_range_attribute *)attributes, number,
                                                        (CUdeviceptr)pointer, count));
}

/* ---- In stream order, and pools ---- */

_Static_assert(sizeof(struct cudaMemPoolProps) == sizeof(CUmemPoolProps) &&
                   sizeof(struct cudaMemAccessDesc) == sizeof(CUmemAccessDesc) &&
                   sizeof(struct cudaMemLocation) == sizeof(CUmemLocation),
               "the driver and the runtime describe pools alike");

static cudaError_t malloc_async(enum flavor flavor, void **pointer, size_t size,
                                cudaStream_t stream)
{
    ENTER();
    return error_from(driver.cuMemAllocAsync[flavor]((CUdeviceptr *)pointer, size, stream));
}
BOTH(cudaMallocAsync, _ptsz, malloc_async, (void **pointer, size_t size, cudaStream_t stream),
     pointer, size, stream)

static cudaError_t malloc_from_pool(enum flavor flavor, void **pointer, size_t size,
                                    cudaMemPool_t pool, cudaStream_t stream)
{
    ENTER();
    return error_from(
        driver.cuMemAllocFromPoolAsync[flavor]((CUdeviceptr *)pointer, size, pool, stream));
}
BOTH(cudaMallocFromPoolAsync, _ptsz, malloc_from_pool,
     (void **pointer, size_t size, cudaMemPool_t pool, cudaStream_t stream), pointer, size, pool,
     stream)

static cudaError_t free_async(enum flavor flavor, void *pointer, cudaStream_t stream)
{
    ENTER();
    return error_from(driver.cuMemFreeAsync[flavor]((CUdeviceptr)pointer, stream));
}
BOTH(cudaFreeAsync, _ptsz, free_async, (void *pointer, cudaStream_t stream), pointer, stream)

API cudaError_t cudaMemPoolCreate(cudaMemPool_t *pool, const struct cudaMemPoolProps *properties)
{
    ENTER();
    return error_from(driver.cuMemPoolCreate[0](pool, (const CUmemPoolProps *)properties));
}

API cudaError_t cudaMemPoolDestroy(cudaMemPool_t pool)
{
    ENTER();
    return error_from(driver.cuMemPoolDestroy[0](pool));
}

API cudaError_t cudaMemPoolTrimTo(cudaMemPool_t pool, size_t bytes)
{
    ENTER();
    return error_from(driver.cuMemPoolTrimTo[0](pool, bytes));
}

API cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t pool, enum cudaMemPoolAttr attribute,
                                        void *value)
{
    ENTER();
    return error_from(driver.cuMemPoolSetAttribute[0](pool, (CUmemPool_attribute)attribute, value));
}

API cudaError_t cudaMemPoolGetAttribute(cudaMemPool_t pool, enum cudaMemPoolAttr attribute,
                                        void *value)
{
    ENTER();
    return error_from(driver.cuMemPoolGetAttribute[0](pool, (CUmemPool_attribute)attribute, value));
}

API cudaError_t cudaMemPoolSetAccess(cudaMemPool_t pool, const struct cudaMemAccessDesc *list,
                                     size_t count)
{
    ENTER();
    return error_from(driver.cuMemPoolSetAccess[0](pool, (const CUmemAccessDesc *)list, count));
}

API cudaError_t cudaMemPoolGetAccess(enum cudaMemAccessFlags *flags, cudaMemPool_t pool,
                                     struct cudaMemLocation *location)
{
    ENTER();
    return error_from(
        driver.cuMemPoolGetAccess[0]((CUmemAccess_flags *)flags, pool, (CUmemLocation *)location));
}

API cudaError_t cudaDeviceGetDefaultMemPool(cudaMemPool_t *pool, int device)
{
    ENTER();
    return error_from(driver.cuDeviceGetDefaultMemPool[0](pool, device));
}

API cudaError_t cudaDeviceGetMemPool(cudaMemPool_t *pool, int device)
{
    ENTER();
    return error_from(driver.cuDeviceGetMemPool[0](pool, device));
}

API cudaError_t cudaDeviceSetMemPool(int device, cudaMemPool_t pool)
{
    ENTER();
    return error_from(driver.cuDeviceSetMemPool[0](device, pool));
}

/* ---- Pointers ---- */

static enum cudaMemoryType memory_type(unsigned type, unsigned managed)
{
    if (managed)
        return cudaMemoryTypeManaged;
    if (type == CU_MEMORYTYPE_HOST)
        return cudaMemoryTypeHost;
    return type ? cudaMemoryTypeDevice : cudaMemoryTypeUnregistered;
}

/* CUDA 13 put reserved bytes at the struct's end. */
#if CUDART_MAJOR == 12
#define POINTER_ATTRIBUTES offsetof(struct cudaPointerAttributes, reserved)
#else
#define POINTER_ATTRIBUTES sizeof(struct cudaPointerAttributes)
#endif

/* Memory that CUDA does not know is no error: its type is cudaMemoryTypeUnregistered. */
API cudaError_t cudaPointerGetAttributes(struct cudaPointerAttributes *attributes,
                                         const void *pointer)
{
    unsigned type = 0, managed = 0;
    int device = 0;
    void *on_device = NULL, *on_host = NULL;
    CUpointer_attribute which[] = {
        CU_POINTER_ATTRIBUTE_MEMORY_TYPE, CU_POINTER_ATTRIBUTE_IS_MANAGED,
        CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, CU_POINTER_ATTRIBUTE_DEVICE_POINTER,
        CU_POINTER_ATTRIBUTE_HOST_POINTER};
    void *values[] = {&type, &managed, &device, &on_device, &on_host};
    ENTER();
    if (!attributes)
        return error_record(cudaErrorInvalidValue);
    CUresult result = driver.cuPointerGetAttributes[0](5, which, values, (CUdeviceptr)pointer);
    if (result != CUDA_SUCCESS && result != CUDA_ERROR_INVALID_VALUE)
        return error_from(result);
    struct cudaPointerAttributes found = {
        .type = memory_type(result == CUDA_SUCCESS ? type : 0, managed),
        .device = device,
        .devicePointer = on_device,
        .hostPointer = on_host};
    if (found.type == cudaMemoryTypeUnregistered) {
        found.device = cudaInvalidDeviceId;
        found.devicePointer = NULL;
        found.hostPointer = (void *)pointer;
    }
    memcpy(attributes, &found, POINTER_ATTRIBUTES);
    return cudaSuccess;
}
