/* The hooks of stream memory operations. See stream_memop.h. */
#include "runtime/hook/api/memop_call.h"
#include "driver_hooks.h"
#include "runtime/hook/graph/capture.h"
#include "runtime/hook/graph/graph_node_accesses.h"
#include "runtime/hook/state/callsite.h"
#include "runtime/hook/session/guard.h"
#include "runtime/hook/state/stream.h"

#include <stdlib.h>

static const char *const argument_names[] = {"addr"};

void memop_call_done(const struct driver_entry *entry, csan_site site, CUstream handle,
                     const struct memop *operations, size_t count)
{
    if (stream_is_capturing(handle, entry->thread_default)) {
        capture_work(handle, entry->thread_default,
                     graph_node_work_memops(site, operations, count));
        return;
    }
    struct stream *stream = stream_lock(handle, entry->thread_default);
    if (!stream)
        return;
    stream_use(stream);
    stream_memop_enqueue(stream, stream_lane(stream), site, operations, count);
    guard_unlock();
}

static void enqueue(const struct driver_entry *entry, CUstream handle,
                    const struct memop *operations, size_t count)
{
    memop_call_done(entry, callsite_of(entry->name, argument_names, 1), handle, operations, count);
}

/* ---- The calls ---- */

/* Makes the call, and records it when it succeeded. */
#define VALUE_HOOK(call, ...)                                                                      \
    CUresult result = call;                                                                        \
    if (result == CUDA_SUCCESS)                                                                    \
        enqueue(entry, stream, &(struct memop){__VA_ARGS__}, 1);                                   \
    return result

CUresult hook_stream_write_value_32(const struct driver_entry *entry, CUstream stream,
                                    CUdeviceptr_v2 addr, cuuint32_t value, unsigned int flags)
{
    VALUE_HOOK(DRIVER_REAL(entry, cuStreamWriteValue32_v11070)(stream, addr, value, flags),
               .address = addr, .value = value, .bytes = 4, .flags = flags);
}

CUresult hook_stream_write_value_64(const struct driver_entry *entry, CUstream stream,
                                    CUdeviceptr_v2 addr, cuuint64_t value, unsigned int flags)
{
    VALUE_HOOK(DRIVER_REAL(entry, cuStreamWriteValue64_v11070)(stream, addr, value, flags),
               .address = addr, .value = value, .bytes = 8, .flags = flags);
}

CUresult hook_stream_wait_value_32(const struct driver_entry *entry, CUstream stream,
                                   CUdeviceptr_v2 addr, cuuint32_t value, unsigned int flags)
{
    VALUE_HOOK(DRIVER_REAL(entry, cuStreamWaitValue32_v11070)(stream, addr, value, flags),
               .is_wait = true, .address = addr, .value = value, .bytes = 4, .flags = flags);
}

CUresult hook_stream_wait_value_64(const struct driver_entry *entry, CUstream stream,
                                   CUdeviceptr_v2 addr, cuuint64_t value, unsigned int flags)
{
    VALUE_HOOK(DRIVER_REAL(entry, cuStreamWaitValue64_v11070)(stream, addr, value, flags),
               .is_wait = true, .address = addr, .value = value, .bytes = 8, .flags = flags);
}

CUresult hook_stream_batch_mem_op(const struct driver_entry *entry, CUstream stream,
                                  unsigned int count, CUstreamBatchMemOpParams *paramArray,
                                  unsigned int flags)
{
    CUresult result =
        DRIVER_REAL(entry, cuStreamBatchMemOp_v11070)(stream, count, paramArray, flags);
    struct memop *operations =
        result == CUDA_SUCCESS && count ? malloc(count * sizeof *operations) : NULL;
    if (operations)
        enqueue(entry, stream, operations, memop_read_batch(paramArray, count, operations));
    free(operations);
    return result;
}
