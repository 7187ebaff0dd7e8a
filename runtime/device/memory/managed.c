/* Advice, attributes of ranges, prefetches and discards of managed memory. Host and device both see
 * managed memory, so nothing moves: a prefetch only takes its turn in its stream. Discarded memory
 * gets bytes that nobody can mean: "Reading from a discarded range, without a subsequent write or
 * prefetch to that part of the range, will return an indeterminate value" (CUDA Driver API,
 * cuMemDiscardBatchAsync). */
#include "runtime/device/driver/graph/graph.h"

enum { DISCARDED = 0xd5 };

static bool is_managed(CUdeviceptr address, size_t bytes)
{
    struct memory memory = memory_at(address);
    return memory.kind == MEMORY_MANAGED && bytes && memory_contains(&memory, address, bytes);
}

static CUresult advise(CUdeviceptr address, size_t bytes)
{
    struct CUctx_st *context;
    CUresult result = device_enter_context(&context);
    if (result != CUDA_SUCCESS)
        return result;
    return device_leave(is_managed(address, bytes) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE);
}

CUresult CUDAAPI cuMemAdvise(CUdeviceptr devPtr, size_t count, CUmem_advise advice, CUdevice dev)
{
    (void)advice, (void)dev;
    return advise(devPtr, count);
}

CUresult CUDAAPI cuMemAdvise_v2(CUdeviceptr devPtr, size_t count, CUmem_advise advice,
                                CUmemLocation location)
{
    (void)advice, (void)location;
    return advise(devPtr, count);
}

/* ---- What was advised ------------------------------------------------------------------------ */

static CUresult range_attribute(void *data, size_t bytes, CUmem_range_attribute attribute)
{
    switch (attribute) {
    case CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY:
        if (bytes != 4)
            return CUDA_ERROR_INVALID_VALUE;
        *(int *)data = 0;
        return CUDA_SUCCESS;
    case CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION:
    case CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION:
        if (bytes != 4)
            return CUDA_ERROR_INVALID_VALUE;
        *(int *)data = CU_DEVICE_INVALID;
        return CUDA_SUCCESS;
    case CU_MEM_RANGE_ATTRIBUTE_ACCESSED_BY:
        if (!bytes || bytes % 4)
            return CUDA_ERROR_INVALID_VALUE;
        for (size_t i = 0; i < bytes / 4; i++)
            ((int *)data)[i] = CU_DEVICE_INVALID;
        return CUDA_SUCCESS;
    default:
        return CUDA_ERROR_INVALID_VALUE;
    }
}

CUresult CUDAAPI cuMemRangeGetAttribute(void *data, size_t dataSize,
                                        CUmem_range_attribute attribute, CUdeviceptr devPtr,
                                        size_t count)
{
    CUresult result = advise(devPtr, count);
    if (result != CUDA_SUCCESS)
        return result;
    return data ? range_attribute(data, dataSize, attribute) : CUDA_ERROR_INVALID_VALUE;
}

CUresult CUDAAPI cuMemRangeGetAttributes(void **data, size_t *dataSizes,
                                         CUmem_range_attribute *attributes, size_t numAttributes,
                                         CUdeviceptr devPtr, size_t count)
{
    if (!data || !dataSizes || !attributes)
        return CUDA_ERROR_INVALID_VALUE;
    CUresult result = CUDA_SUCCESS;
    for (size_t i = 0; i < numAttributes && result == CUDA_SUCCESS; i++)
        result = cuMemRangeGetAttribute(data[i], dataSizes[i], attributes[i], devPtr, count);
    return result;
}

/* ---- Prefetches ------------------------------------------------------------------------------ */

static CUresult prefetch(const CUdeviceptr *addresses, const size_t *sizes, size_t count,
                         CUstream handle, bool per_thread)
{
    struct CUstream_st *stream;
    CUresult result = stream_enter(handle, per_thread, &stream);
    if (result != CUDA_SUCCESS)
        return result;
    for (size_t i = 0; i < count; i++)
        if (!is_managed(addresses[i], sizes[i]))
            return device_leave(CUDA_ERROR_INVALID_VALUE);
    if ((result = capture_refuses(stream)) != CUDA_SUCCESS) /* no node does this */
        return device_leave(result);
    struct item *item = queue_marker(NULL, NULL);
    if (!item)
        return device_leave(CUDA_ERROR_OUT_OF_MEMORY);
    queue_enqueue(stream, item);
    return device_leave(CUDA_SUCCESS);
}

static bool is_legacy(CUstream stream, bool per_thread)
{
    return stream == CU_STREAM_LEGACY || (!stream && !per_thread);
}

static bool batch_is_valid(const CUdeviceptr *addresses, const size_t *sizes, size_t count,
                           unsigned long long flags, CUstream stream, bool per_thread)
{
    return addresses && sizes && count && !flags && !is_legacy(stream, per_thread);
}

static CUresult prefetch_batch(const CUdeviceptr *addresses, const size_t *sizes, size_t count,
                               size_t locations, unsigned long long flags, CUstream stream,
                               bool per_thread)
{
    if (!batch_is_valid(addresses, sizes, count, flags, stream, per_thread) || !locations ||
        locations > count)
        return CUDA_ERROR_INVALID_VALUE;
    return prefetch(addresses, sizes, count, stream, per_thread);
}

/* ---- Discards -------------------------------------------------------------------------------- */

static CUresult discard_batch(const CUdeviceptr *addresses, const size_t *sizes, size_t count,
                              unsigned long long flags, CUstream stream, bool per_thread)
{
    if (!batch_is_valid(addresses, sizes, count, flags, stream, per_thread))
        return CUDA_ERROR_INVALID_VALUE;
    CUresult result = prefetch(addresses, sizes, count, stream, per_thread); /* checks them all */
    for (size_t i = 0; i < count && result == CUDA_SUCCESS; i++)
        result = per_thread ? cuMemsetD8Async_ptsz(addresses[i], DISCARDED, sizes[i], stream)
                            : cuMemsetD8Async(addresses[i], DISCARDED, sizes[i], stream);
    return result;
}

/* ---- Entry points -------------------------------------------------------------------------- */

#define ENTRIES(suffix, per_thread)                                                                \
    CUresult CUDAAPI cuMemPrefetchAsync##suffix(CUdeviceptr devPtr, size_t count,                  \
                                                CUdevice dstDevice, CUstream hStream)              \
    {                                                                                              \
        (void)dstDevice;                                                                           \
        return prefetch(&devPtr, &count, 1, hStream, per_thread);                                  \
    }                                                                                              \
    CUresult CUDAAPI cuMemPrefetchAsync_v2##suffix(CUdeviceptr devPtr, size_t count,               \
                                                   CUmemLocation location, unsigned int flags,     \
                                                   CUstream hStream)                               \
    {                                                                                              \
        (void)location;                                                                            \
        return flags ? CUDA_ERROR_INVALID_VALUE                                                    \
                     : prefetch(&devPtr, &count, 1, hStream, per_thread);                          \
    }                                                                                              \
    CUresult CUDAAPI cuMemPrefetchBatchAsync##suffix(                                              \
        CUdeviceptr *dptrs, size_t *sizes, size_t count, CUmemLocation *prefetchLocs,              \
        size_t *prefetchLocIdxs, size_t numPrefetchLocs, unsigned long long flags,                 \
        CUstream hStream)                                                                          \
    {                                                                                              \
        (void)prefetchLocs, (void)prefetchLocIdxs;                                                 \
        return prefetch_batch(dptrs, sizes, count, numPrefetchLocs, flags, hStream, per_thread);   \
    }                                                                                              \
    CUresult CUDAAPI cuMemDiscardBatchAsync##suffix(CUdeviceptr *dptrs, size_t *sizes,             \
                                                    size_t count, unsigned long long flags,        \
                                                    CUstream hStream)                              \
    {                                                                                              \
        return discard_batch(dptrs, sizes, count, flags, hStream, per_thread);                     \
    }                                                                                              \
    CUresult CUDAAPI cuMemDiscardAndPrefetchBatchAsync##suffix(                                    \
        CUdeviceptr *dptrs, size_t *sizes, size_t count, CUmemLocation *prefetchLocs,              \
        size_t *prefetchLocIdxs, size_t numPrefetchLocs, unsigned long long flags,                 \
        CUstream hStream)                                                                          \
    {                                                                                              \
        (void)prefetchLocs, (void)prefetchLocIdxs;                                                 \
        return !numPrefetchLocs || numPrefetchLocs > count                                         \
                   ? CUDA_ERROR_INVALID_VALUE                                                      \
                   : discard_batch(dptrs, sizes, count, flags, hStream, per_thread);               \
    }

ENTRIES(, false)
ENTRIES(_ptsz, true)
