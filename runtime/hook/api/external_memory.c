/* The hooks of memory, events and semaphores that are shared with other processes and interfaces.
 * csan does not see what those do, and says so once. What this program does with such memory is
 * checked like everything else. Recordings have the handles, so that csan merge --order can put
 * the processes together.
 *
 * When a mapping of another process's memory ends, nothing waits for work that uses it, because
 * nothing promises that (CUDA Driver API, cuIpcCloseMemHandle). So work that is still under way is
 * a race. Signals to external semaphores, and waits for them, order as the memory operations of
 * streams do (stream_memop.h). */
#include "csan/detector/context.h"
#include "driver_hooks.h"
#include "runtime/hook/graph/capture.h"
#include "runtime/hook/graph/graph_node_accesses.h"
#include "runtime/hook/state/callsite.h"
#include "runtime/hook/state/known_contents.h"
#include "runtime/hook/state/event_table.h"
#include "runtime/hook/state/process_link.h"
#include "runtime/hook/session/guard.h"
#include "runtime/hook/state/handle_table.h"
#include "runtime/hook/session/recorded_device.h"
#include "runtime/hook/session/session.h"
#include "runtime/hook/state/stream.h"
#include "runtime/hook/session/counters.h"
#include "runtime/hook/state/thread.h"
#include "runtime/hook/api/memop_call.h"

#include <stdlib.h>

static const char *const of_processes =
    "memory shared with other processes (what they do to it is not seen)";
static const char *const of_interfaces =
    "memory of other interfaces (what they do to it is not seen)";
static const char *const events_note =
    "events shared with other processes (what they record is not seen)";

/* Memory that was opened, and may be opened again: the driver counts, and gives the same address.
 */
struct opened {
    uint64_t base;
    uint64_t count;
    UT_hash_handle hh;
};

static struct {
    struct opened *opened; /* under the hooks' lock */
    void *get_address_range;
} table;

static struct opened *opened_find(uint64_t base)
{
    struct opened *opened = NULL;
    HASH_FIND(hh, table.opened, &base, sizeof base, opened);
    return opened;
}

/* The whole of what was mapped around an address; false: the driver does not say. */
static bool range_of(uint64_t address, uint64_t *base, uint64_t *bytes)
{
    CUdeviceptr_v2 start = 0;
    size_t size = 0;
    PFN_cuMemGetAddressRange_v3020 get = (PFN_cuMemGetAddressRange_v3020)driver_function_cached(
        &table.get_address_range, "cuMemGetAddressRange_v2");
    if (!get || get(&start, &size, address) != CUDA_SUCCESS || !size)
        return false;
    *base = start;
    *bytes = size;
    return true;
}

/* With the lock held. */
static void born(uint64_t base, uint64_t bytes, csan_site site)
{
    struct opened *opened = opened_find(base);
    if (opened) {
        opened->count++;
        return;
    }
    opened = calloc(1, sizeof *opened);
    if (!opened)
        return;
    opened->base = base;
    opened->count = 1;
    HASH_ADD(hh, table.opened, base, sizeof opened->base, opened);
    stream_memop_forget(base, bytes);
    recorded_device_host(NULL);
    csan_memory_create(session_context(), CSAN_MEMORY_DEVICE, base, bytes, CSAN_HOST, site);
}

static void open_at(uint64_t address, csan_site site)
{
    uint64_t base, bytes;
    if (!range_of(address, &base, &bytes))
        return;
    known_contents_forget(base, bytes);
    guard_lock();
    born(base, bytes, site);
    guard_unlock();
}

/* ---- Memory of other processes ---- */

/* The memory around that address has a handle for other processes. */
static void handle_note(int kind, const void *handle, size_t bytes, uint64_t address, uint64_t time)
{
    struct csan_link link = {.kind = kind, .time = time};
    if (!range_of(address, &link.address, &link.bytes))
        return;
    link.key = process_link_key(handle, bytes);
    process_link_lane(thread_lane(), &link);
}

/* Says what is not seen when the call succeeded. */
#define NOTE_HOOK(call, note)                                                                      \
    CUresult result = call;                                                                        \
    if (result == CUDA_SUCCESS) {                                                                  \
        counters_unmodelled(note);                                                                 \
        context_doubt(session_context());                                                          \
    }                                                                                              \
    return result

CUresult hook_ipc_get_memory(const struct driver_entry *entry, CUipcMemHandle_v1 *pHandle,
                             CUdeviceptr_v2 dptr)
{
    CUresult result = DRIVER_REAL(entry, cuIpcGetMemHandle_v4010)(pHandle, dptr);
    if (result == CUDA_SUCCESS) {
        counters_unmodelled(of_processes);
        context_doubt(session_context());
        handle_note(CSAN_LINK_SHARE, pHandle, sizeof *pHandle, dptr, 0);
    }
    return result;
}

/* It is set of memory that others than CUDA are to reach, such as network cards (GPUDirect RDMA,
 * "Synchronization behavior"). */
CUresult hook_pointer_set_attribute(const struct driver_entry *entry, const void *value,
                                    CUpointer_attribute attribute, CUdeviceptr_v2 ptr)
{
    CUresult result = DRIVER_REAL(entry, cuPointerSetAttribute_v6000)(value, attribute, ptr);
    if (result == CUDA_SUCCESS)
        context_doubt(session_context());
    return result;
}

CUresult hook_ipc_open_memory(const struct driver_entry *entry, CUdeviceptr_v2 *pdptr,
                              CUipcMemHandle_v1 handle, unsigned int Flags)
{
    csan_site site = callsite_of_memory(entry->name);
    const uint64_t begun = process_link_now();
    CUresult result = DRIVER_REAL(entry, cuIpcOpenMemHandle_v11000)(pdptr, handle, Flags);
    if (result == CUDA_SUCCESS) {
        counters_unmodelled(of_processes);
        open_at(*pdptr, site);
        handle_note(CSAN_LINK_OPEN, &handle, sizeof handle, *pdptr, begun);
    }
    return result;
}

/* Undone when the call fails; NULL: others still have it open, or csan did not see it opened. */
static csan_free *close_begin(uint64_t base, csan_site site)
{
    guard_lock();
    const struct opened *opened = opened_find(base);
    csan_free *token = NULL;
    if (opened && opened->count == 1)
        token = csan_memory_free_begin(session_context(), base, thread_lane(), 1, site);
    guard_unlock();
    return token;
}

static void close_end(uint64_t base, csan_free *token, CUresult result)
{
    guard_lock();
    struct opened *opened = result == CUDA_SUCCESS ? opened_find(base) : NULL;
    if (opened && --opened->count == 0) {
        process_link_lane(thread_lane(),
                          &(struct csan_link){.kind = CSAN_LINK_CLOSE, .address = base});
        HASH_DEL(table.opened, opened);
        free(opened);
    }
    if (token)
        csan_memory_free_end(session_context(), token, result != CUDA_SUCCESS, CSAN_FREE_NO_WAIT);
    guard_unlock();
}

CUresult hook_ipc_close_memory(const struct driver_entry *entry, CUdeviceptr_v2 dptr)
{
    csan_free *token = close_begin(dptr, callsite_of_memory(entry->name));
    CUresult result = DRIVER_REAL(entry, cuIpcCloseMemHandle_v4010)(dptr);
    close_end(dptr, token, result);
    return result;
}

CUresult hook_pool_export(const struct driver_entry *entry, void *handle_out, CUmemoryPool pool,
                          CUmemAllocationHandleType handleType, unsigned long long flags)
{
    NOTE_HOOK(DRIVER_REAL(entry, cuMemPoolExportToShareableHandle_v11020)(handle_out, pool,
                                                                          handleType, flags),
              of_processes);
}

CUresult hook_pool_import(const struct driver_entry *entry, CUmemoryPool *pool_out, void *handle,
                          CUmemAllocationHandleType handleType, unsigned long long flags)
{
    NOTE_HOOK(DRIVER_REAL(entry, cuMemPoolImportFromShareableHandle_v11020)(pool_out, handle,
                                                                            handleType, flags),
              of_processes);
}

CUresult hook_pool_export_pointer(const struct driver_entry *entry,
                                  CUmemPoolPtrExportData_v1 *shareData_out, CUdeviceptr_v2 ptr)
{
    CUresult result = DRIVER_REAL(entry, cuMemPoolExportPointer_v11020)(shareData_out, ptr);
    if (result == CUDA_SUCCESS) {
        counters_unmodelled(of_processes);
        context_doubt(session_context());
        handle_note(CSAN_LINK_SHARE, shareData_out, sizeof *shareData_out, ptr, 0);
    }
    return result;
}

/* "The imported memory may be freed using cuMemFree() or cuMemFreeAsync()": it is as memory of a
 * pool of this process from then on, born at the host. */
CUresult hook_pool_import_pointer(const struct driver_entry *entry, CUdeviceptr_v2 *ptr_out,
                                  CUmemoryPool pool, CUmemPoolPtrExportData_v1 *shareData)
{
    uint64_t base, bytes;
    csan_site site = callsite_of_memory(entry->name);
    const uint64_t begun = process_link_now();
    CUresult result = DRIVER_REAL(entry, cuMemPoolImportPointer_v11020)(ptr_out, pool, shareData);
    if (result == CUDA_SUCCESS)
        counters_unmodelled(of_processes);
    if (result == CUDA_SUCCESS && range_of(*ptr_out, &base, &bytes)) {
        known_contents_forget(base, bytes);
        guard_lock();
        stream_memop_forget(base, bytes);
        recorded_device_host(NULL);
        csan_memory_create(session_context(), CSAN_MEMORY_STREAM, base, bytes, CSAN_HOST, site);
        guard_unlock();
        handle_note(CSAN_LINK_OPEN, shareData, sizeof *shareData, *ptr_out, begun);
    }
    return result;
}

/* ---- Memory of other interfaces: "must be freed using cuMemFree" ---- */

CUresult hook_external_buffer(const struct driver_entry *entry, CUdeviceptr_v2 *devPtr,
                              CUexternalMemory extMem,
                              const CUDA_EXTERNAL_MEMORY_BUFFER_DESC_v1 *bufferDesc)
{
    csan_site site = callsite_of_memory(entry->name);
    CUresult result =
        DRIVER_REAL(entry, cuExternalMemoryGetMappedBuffer_v10000)(devPtr, extMem, bufferDesc);
    if (result == CUDA_SUCCESS) {
        counters_unmodelled(of_interfaces);
        known_contents_forget(*devPtr, bufferDesc->size);
        guard_lock();
        stream_memop_forget(*devPtr, bufferDesc->size);
        recorded_device_host(NULL);
        csan_memory_create(session_context(), CSAN_MEMORY_DEVICE, *devPtr, bufferDesc->size,
                           CSAN_HOST, site);
        guard_unlock();
    }
    return result;
}

/* ---- Events and semaphores ---- */

CUresult hook_ipc_get_event(const struct driver_entry *entry, CUipcEventHandle_v1 *pHandle,
                            CUevent event)
{
    CUresult result = DRIVER_REAL(entry, cuIpcGetEventHandle_v4010)(pHandle, event);
    if (result == CUDA_SUCCESS) {
        counters_unmodelled(events_note);
        context_doubt(session_context());
        event_shared(event, process_link_key(pHandle, sizeof *pHandle));
    }
    return result;
}

CUresult hook_ipc_open_event(const struct driver_entry *entry, CUevent *phEvent,
                             CUipcEventHandle_v1 handle)
{
    CUresult result = DRIVER_REAL(entry, cuIpcOpenEventHandle_v4010)(phEvent, handle);
    if (result == CUDA_SUCCESS) {
        counters_unmodelled(events_note);
        event_created(*phEvent);
        event_shared(*phEvent, process_link_key(&handle, sizeof handle));
    }
    return result;
}

static void semaphores_used(const struct driver_entry *entry, CUstream handle,
                            const struct memop *operations, size_t count)
{
    memop_call_done(entry, callsite_of(entry->name, NULL, 0), handle, operations, count);
}

CUresult hook_semaphores_signal(const struct driver_entry *entry,
                                const CUexternalSemaphore *extSemArray,
                                const CUDA_EXTERNAL_SEMAPHORE_SIGNAL_PARAMS_v1 *paramsArray,
                                unsigned int numExtSems, CUstream stream)
{
    CUresult result = DRIVER_REAL(entry, cuSignalExternalSemaphoresAsync_v10000)(
        extSemArray, paramsArray, numExtSems, stream);
    struct memop *operations =
        result == CUDA_SUCCESS && numExtSems ? malloc(numExtSems * sizeof *operations) : NULL;
    if (operations) {
        memop_read_signals(extSemArray, paramsArray, numExtSems, operations);
        semaphores_used(entry, stream, operations, numExtSems);
    }
    free(operations);
    return result;
}

CUresult hook_semaphores_wait(const struct driver_entry *entry,
                              const CUexternalSemaphore *extSemArray,
                              const CUDA_EXTERNAL_SEMAPHORE_WAIT_PARAMS_v1 *paramsArray,
                              unsigned int numExtSems, CUstream stream)
{
    CUresult result = DRIVER_REAL(entry, cuWaitExternalSemaphoresAsync_v10000)(
        extSemArray, paramsArray, numExtSems, stream);
    struct memop *operations =
        result == CUDA_SUCCESS && numExtSems ? malloc(numExtSems * sizeof *operations) : NULL;
    if (operations) {
        memop_read_waits(extSemArray, paramsArray, numExtSems, operations);
        semaphores_used(entry, stream, operations, numExtSems);
    }
    free(operations);
    return result;
}

CUresult hook_semaphore_destroy(const struct driver_entry *entry, CUexternalSemaphore extSem)
{
    CUresult result = DRIVER_REAL(entry, cuDestroyExternalSemaphore_v10000)(extSem);
    if (result == CUDA_SUCCESS)
        stream_memop_forget_semaphore(extSem);
    return result;
}
