/* The hooks that move managed memory.
 *
 * Prefetching and attaching are work of their stream that changes no bytes. Other work may access
 * the memory meanwhile, and sees its contents (CUDA Driver API, cuMemPrefetchAsync,
 * cuStreamAttachMemAsync). Discarding leaves no defined contents, and "any reads, writes or
 * prefetches to any part of the memory range that occur simultaneously with the discard operation
 * result in undefined behavior". So it is a write. The ranges of a batch have no order among each
 * other, but none is touched twice with effect. */
#include "driver_hooks.h"
#include "runtime/hook/state/callsite.h"
#include "runtime/hook/session/guard.h"
#include "runtime/hook/operator/operator_work.h"
#include "runtime/hook/state/stream.h"
#include "runtime/hook/state/stream_memop.h"

#include <stdlib.h>

static const char *const argument_names[] = {"dptrs"};

/* What the call writes; none: it only takes its turn in the stream. */
static void enqueue(const struct driver_entry *entry, CUstream handle, CUdeviceptr_v2 *dptrs,
                    const size_t *sizes, size_t count)
{
    struct csan_access *accesses = calloc(count + 1, sizeof *accesses);
    struct callsite_stack stack;
    size_t found = 0;
    if (!accesses)
        return;
    for (size_t i = 0; i < count; i++)
        if (sizes[i])
            accesses[found++] =
                (struct csan_access){.base = dptrs[i], .bytes = sizes[i], .kind = CSAN_WRITE};
    callsite_capture(&stack);
    csan_site site = operator_site(&stack, entry->name, argument_names, 1);
    struct stream *stream = NULL;
    if (stream_is_capturing(handle, entry->thread_default))
        operator_capture(handle, entry->thread_default, site, CSAN_LEVEL_LIBRARY, true, accesses,
                         found);
    else if ((stream = stream_lock(handle, entry->thread_default)) != NULL) {
        stream_use(stream);
        for (size_t i = 0; i < found; i++)
            stream_memop_overwritten(accesses[i].base, accesses[i].bytes);
        operator_enqueue(stream_lane(stream), site, CSAN_LEVEL_LIBRARY, true, accesses, found);
        guard_unlock();
    }
    free(accesses);
}

/* Makes the call, and enqueues its op when it succeeded. */
#define MANAGED_HOOK(call, ...)                                                                    \
    CUresult result = call;                                                                        \
    if (result == CUDA_SUCCESS)                                                                    \
        enqueue(entry, hStream, __VA_ARGS__);                                                      \
    return result

CUresult hook_memory_prefetch_v1(const struct driver_entry *entry, CUdeviceptr_v2 devPtr,
                                 size_t count, CUdevice_v1 dstDevice, CUstream hStream)
{
    MANAGED_HOOK(DRIVER_REAL(entry, cuMemPrefetchAsync_v8000)(devPtr, count, dstDevice, hStream),
                 NULL, NULL, 0);
}

CUresult hook_memory_prefetch(const struct driver_entry *entry, CUdeviceptr_v2 devPtr, size_t count,
                              CUmemLocation_v1 location, unsigned int flags, CUstream hStream)
{
    MANAGED_HOOK(
        DRIVER_REAL(entry, cuMemPrefetchAsync_v12020)(devPtr, count, location, flags, hStream),
        NULL, NULL, 0);
}

CUresult hook_memory_prefetch_batch(const struct driver_entry *entry, CUdeviceptr_v2 *dptrs,
                                    size_t *sizes, size_t count, CUmemLocation_v1 *prefetchLocs,
                                    size_t *prefetchLocIdxs, size_t numPrefetchLocs,
                                    unsigned long long flags, CUstream hStream)
{
    MANAGED_HOOK(
        DRIVER_REAL(entry, cuMemPrefetchBatchAsync_v13000)(
            dptrs, sizes, count, prefetchLocs, prefetchLocIdxs, numPrefetchLocs, flags, hStream),
        NULL, NULL, 0);
}

CUresult hook_memory_discard_batch(const struct driver_entry *entry, CUdeviceptr_v2 *dptrs,
                                   size_t *sizes, size_t count, unsigned long long flags,
                                   CUstream hStream)
{
    MANAGED_HOOK(
        DRIVER_REAL(entry, cuMemDiscardBatchAsync_v13000)(dptrs, sizes, count, flags, hStream),
        dptrs, sizes, count);
}

CUresult hook_memory_discard_and_prefetch_batch(const struct driver_entry *entry,
                                                CUdeviceptr_v2 *dptrs, size_t *sizes, size_t count,
                                                CUmemLocation_v1 *prefetchLocs,
                                                size_t *prefetchLocIdxs, size_t numPrefetchLocs,
                                                unsigned long long flags, CUstream hStream)
{
    MANAGED_HOOK(
        DRIVER_REAL(entry, cuMemDiscardAndPrefetchBatchAsync_v13000)(
            dptrs, sizes, count, prefetchLocs, prefetchLocIdxs, numPrefetchLocs, flags, hStream),
        dptrs, sizes, count);
}

CUresult hook_stream_attach(const struct driver_entry *entry, CUstream hStream, CUdeviceptr_v2 dptr,
                            size_t length, unsigned int flags)
{
    MANAGED_HOOK(DRIVER_REAL(entry, cuStreamAttachMemAsync_v6000)(hStream, dptr, length, flags),
                 NULL, NULL, 0);
}
