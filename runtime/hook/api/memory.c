/* The hooks of memory: births and ends of allocations.
 *
 * cuMemFree and cuMemFreeHost were seen to wait for the work of the memory's device before they
 * free. So by default they order all of that work before the host (implicit_wait.h). They do not
 * wait for other devices (tests/litmus). For those, the free is checked as an access that comes
 * after its own device's work. For memory of cuMemAllocAsync they do not wait, and that free is
 * checked as an access of the host. A stream-ordered birth or free is work of its stream. */
#include "runtime/hook/api/memory.h"
#include "driver_hooks.h"
#include "runtime/hook/api/library_call.h"
#include "runtime/hook/kernel/launch_pointer.h"
#include "runtime/hook/state/callsite.h"
#include "runtime/hook/graph/capture.h"
#include "runtime/hook/state/known_contents.h"
#include "csan/stack/unwind.h"
#include "runtime/hook/host/code_owner.h"
#include "runtime/hook/host/host_blocks.h"
#include "runtime/hook/host/registered_block.h"
#include "runtime/hook/session/guard.h"
#include "runtime/hook/session/recorded_device.h"
#include "runtime/hook/state/context_device.h"
#include "runtime/hook/state/memory_owner.h"
#include "runtime/hook/graph/graph_node_accesses.h"
#include "runtime/hook/operator/operator_stack.h"
#include "runtime/hook/failure/out_of_memory.h"
#include "runtime/hook/failure/refused_call.h"
#include "runtime/hook/state/stream.h"
#include "runtime/hook/state/thread.h"
#include "runtime/hook/state/stream_memop.h"
#include "runtime/hook/session/session_options.h"
#include "runtime/hook/session/session.h"

static csan_site site_here(const struct driver_entry *entry)
{
    return callsite_of_memory(entry->name);
}

/* ---- The end of a context ---- */

static void forget(uint64_t base)
{
    csan_free *token = csan_memory_free_begin(session_context(), base, thread_lane(), 0, 0);
    if (token)
        csan_memory_free_end(session_context(), token, 0, CSAN_FREE_FORGOTTEN);
}

void memory_context_destroyed(CUcontext context)
{
    launch_pointer_addresses_changed();
    memory_owner_ended(context, forget);
}

/* ---- Births at the host ---- */

/* Whether one of CUDA's libraries makes the call. Python's frames would hide that. */
static bool is_a_librarys_call(void)
{
    enum { FRAMES = 16 };
    const void *frames[FRAMES];
    return code_is_a_librarys(frames, unwind_stack(frames, FRAMES, 0, NULL, NULL));
}

/* What the host does with memory that CUDA's libraries share with the device is their affair. cuDNN
 * gives each of its kernels a pointer to such a word: these launches may be deferred. */
static void born(const struct driver_entry *entry, enum csan_memory_kind kind, uint64_t base,
                 uint64_t bytes)
{
    CUcontext context = stream_current_context();
    if (!base || !bytes)
        return;
    csan_site site = site_here(entry);
    known_contents_forget(base, bytes);
    if ((kind == CSAN_MEMORY_HOST || kind == CSAN_MEMORY_MANAGED) && !is_a_librarys_call())
        host_blocks_add((struct range){base, base + bytes});
    else /* an old one lay there */
        host_blocks_remove((struct range){base, base + bytes});
    guard_lock();
    stream_memop_forget(base, bytes);
    recorded_device_host(context);
    csan_memory_create(session_context(), kind, base, bytes, CSAN_HOST, site);
    memory_owner_set(base, context);
    operator_library_memory_made(base, bytes);
    guard_unlock();
}

CUresult hook_memory_alloc(const struct driver_entry *entry, CUdeviceptr_v2 *dptr, size_t bytesize)
{
    CUresult result = DRIVER_REAL(entry, cuMemAlloc_v3020)(dptr, bytesize);
    out_of_memory_ended(entry, result, bytesize, OUT_OF_MEMORY_DEVICE);
    if (result == CUDA_SUCCESS)
        born(entry, CSAN_MEMORY_DEVICE, *dptr, bytesize);
    return result;
}

CUresult hook_memory_alloc_pitch(const struct driver_entry *entry, CUdeviceptr_v2 *dptr,
                                 size_t *pPitch, size_t WidthInBytes, size_t Height,
                                 unsigned int ElementSizeBytes)
{
    CUresult result = DRIVER_REAL(entry, cuMemAllocPitch_v3020)(dptr, pPitch, WidthInBytes, Height,
                                                                ElementSizeBytes);
    out_of_memory_ended(entry, result, WidthInBytes * Height, OUT_OF_MEMORY_DEVICE);
    if (result == CUDA_SUCCESS)
        born(entry, CSAN_MEMORY_DEVICE, *dptr, *pPitch * Height);
    return result;
}

CUresult hook_memory_alloc_managed(const struct driver_entry *entry, CUdeviceptr_v2 *dptr,
                                   size_t bytesize, unsigned int flags)
{
    CUresult result = DRIVER_REAL(entry, cuMemAllocManaged_v6000)(dptr, bytesize, flags);
    out_of_memory_ended(entry, result, bytesize, OUT_OF_MEMORY_DEVICE);
    if (result == CUDA_SUCCESS)
        born(entry, CSAN_MEMORY_MANAGED, *dptr, bytesize);
    return result;
}

CUresult hook_memory_alloc_host(const struct driver_entry *entry, void **pp, size_t bytesize)
{
    CUresult result = DRIVER_REAL(entry, cuMemAllocHost_v3020)(pp, bytesize);
    out_of_memory_ended(entry, result, bytesize, OUT_OF_MEMORY_HOST);
    if (result == CUDA_SUCCESS)
        born(entry, CSAN_MEMORY_HOST, (uintptr_t)*pp, bytesize);
    return result;
}

CUresult hook_memory_host_alloc(const struct driver_entry *entry, void **pp, size_t bytesize,
                                unsigned int Flags)
{
    CUresult result = DRIVER_REAL(entry, cuMemHostAlloc_v2020)(pp, bytesize, Flags);
    out_of_memory_ended(entry, result, bytesize, OUT_OF_MEMORY_HOST);
    if (result == CUDA_SUCCESS)
        born(entry, CSAN_MEMORY_HOST, (uintptr_t)*pp, bytesize);
    return result;
}

CUresult hook_memory_host_register(const struct driver_entry *entry, void *p, size_t bytesize,
                                   unsigned int Flags)
{
    CUresult result = DRIVER_REAL(entry, cuMemHostRegister_v6050)(p, bytesize, Flags);
    out_of_memory_ended(entry, result, bytesize, OUT_OF_MEMORY_HOST);
    if (result == CUDA_SUCCESS) {
        implicit_wait_for_lane(WAIT_REGISTER, entry, 0, CSAN_NO_LANE);
        born(entry, CSAN_MEMORY_HOST, (uintptr_t)p, bytesize);
        registered_block_begins((struct range){(uintptr_t)p, (uintptr_t)p + bytesize},
                                library_requests_pending());
    }
    return result;
}

/* ---- Deaths at the host ---- */

/* Another thread may have been given the same address by now: its allocation is the newer one. */
static void death_owned(uint64_t base)
{
    guard_lock();
    if (!csan_memory_find(session_context(), base, NULL, NULL, NULL))
        memory_owner_forget(base);
    guard_unlock();
}

/* What the call will have waited for: the work of one context, or where there is but one, all. */
static void death_covers(struct memory_death *death, uint64_t base)
{
    CUcontext current = stream_current_context();
    guard_lock();
    CUcontext owner = memory_owner(base);
    death->context = owner ? owner : current;
    if (stream_context_is_apart(&death->context)) {
        death->covered = thread_makes_lane(0, "a free");
        if (death->covered != CSAN_NO_LANE)
            stream_context_gather(death->context, death->covered);
    }
    guard_unlock();
    death->before = death->covered == CSAN_NO_LANE
                        ? csan_snapshot_take_all(session_context())
                        : csan_snapshot_take(session_context(), death->covered);
}

/* The free is an access of the host; or of what its wait is behind, if that counts: then only other
 * devices can still be at work, or nobody. */
static void death_check(struct memory_death *death, const struct driver_entry *entry, uint64_t base)
{
    const bool ordered = implicit_wait_orders(death->wait) && !session_options()->strict_free;
    const bool apart = death->covered != CSAN_NO_LANE;
    if (!ordered)
        implicit_wait_note(death->wait, entry, death->before);
    death->token = csan_memory_free_begin(session_context(), base,
                                          apart && ordered ? death->covered : thread_lane(),
                                          !(death->wait && ordered) || apart, site_here(entry));
}

struct memory_death memory_death_begin(const struct driver_entry *entry, enum implicit_wait wait,
                                       uint64_t base)
{
    struct memory_death death = {.covered = CSAN_NO_LANE, .wait = wait};
    uint64_t found = 0, bytes = 0;
    enum csan_memory_kind kind = CSAN_MEMORY_DEVICE;
    if (!base)
        return death;
    bool known = csan_memory_find(session_context(), base, &found, &bytes, &kind) && found == base;
    if (known && kind == CSAN_MEMORY_STREAM)
        death.wait = WAIT_NONE;
    else
        death_covers(&death, base);
    if (known)
        known_contents_forget(base, bytes);
    else
        known_contents_forget_all();
    if (known)
        death_check(&death, entry, base);
    return death;
}

void memory_death_end(const struct driver_entry *entry, struct memory_death *death, uint64_t base,
                      CUresult result)
{
    bool apart = death->covered != CSAN_NO_LANE;
    guard_waited();
    if (result == CUDA_SUCCESS && death->wait)
        stream_memop_settle(&(struct stream_memop_scope){.lane = CSAN_NO_LANE,
                                                         .context = apart ? death->context : NULL});
    if (death->token) {
        csan_memory_free_end(session_context(), death->token, result != CUDA_SUCCESS,
                             death->wait ? CSAN_FREE_FORGOTTEN : CSAN_FREE_NO_WAIT);
        if (result == CUDA_SUCCESS)
            death_owned(base);
    }
    if (result == CUDA_SUCCESS)
        implicit_wait_for(death->wait, entry, 0, death->before);
    if (apart)
        csan_lane_destroy(session_context(), death->covered);
    if (death->before)
        csan_snapshot_release(session_context(), death->before);
}

CUresult hook_memory_free(const struct driver_entry *entry, CUdeviceptr_v2 dptr)
{
    struct memory_death death = memory_death_begin(entry, WAIT_FREE, dptr);
    CUresult result = DRIVER_REAL(entry, cuMemFree_v3020)(dptr);
    memory_death_end(entry, &death, dptr, result);
    if (dptr && refused_call_matters(result))
        refused_call_free(site_here(entry), dptr);
    return result;
}

CUresult hook_memory_free_host(const struct driver_entry *entry, void *p)
{
    struct memory_death death = memory_death_begin(entry, WAIT_FREE_HOST, (uintptr_t)p);
    CUresult result = DRIVER_REAL(entry, cuMemFreeHost_v2000)(p);
    memory_death_end(entry, &death, (uintptr_t)p, result);
    if (p && refused_call_matters(result))
        refused_call_free(site_here(entry), (uintptr_t)p);
    return result;
}

CUresult hook_memory_host_unregister(const struct driver_entry *entry, void *p)
{
    struct memory_death death = memory_death_begin(entry, WAIT_UNREGISTER, (uintptr_t)p);
    CUresult result = DRIVER_REAL(entry, cuMemHostUnregister_v4000)(p);
    if (result == CUDA_SUCCESS)
        registered_block_ends((uintptr_t)p);
    memory_death_end(entry, &death, (uintptr_t)p, result);
    return result;
}

/* ---- Births and deaths on a stream ---- */

/* `named`: of a pool that the program names, which may be of another device than the stream. */
static void born_on_stream(const struct driver_entry *entry, CUdeviceptr_v2 base, size_t bytes,
                           CUstream handle, bool named)
{
    if (!base || !bytes)
        return;
    csan_site site = site_here(entry);
    if (stream_is_capturing(handle, entry->thread_default)) {
        capture_work(handle, entry->thread_default,
                     graph_node_work_memory(GRAPH_NODE_BIRTH, site, base, bytes));
        return;
    }
    known_contents_forget(base, bytes);
    struct stream *stream = stream_lock(handle, entry->thread_default);
    if (!stream)
        return;
    stream_use(stream);
    stream_memop_forget(base, bytes);
    operator_memory_made(base, bytes);
    csan_memory_create(session_context(), CSAN_MEMORY_STREAM, base, bytes, stream_lane(stream),
                       site);
    memory_owner_set(base, stream_context(stream));
    if (named && devices_are_several())
        memory_owner_set_access(base, MEMORY_ACCESS_OF_POOL);
    guard_unlock();
}

CUresult hook_memory_alloc_async(const struct driver_entry *entry, CUdeviceptr_v2 *dptr,
                                 size_t bytesize, CUstream hStream)
{
    CUresult result = DRIVER_REAL(entry, cuMemAllocAsync_v11020)(dptr, bytesize, hStream);
    out_of_memory_ended(entry, result, bytesize, OUT_OF_MEMORY_DEVICE);
    if (result == CUDA_SUCCESS)
        born_on_stream(entry, *dptr, bytesize, hStream, false);
    return result;
}

CUresult hook_memory_alloc_from_pool_async(const struct driver_entry *entry, CUdeviceptr_v2 *dptr,
                                           size_t bytesize, CUmemoryPool pool, CUstream hStream)
{
    CUresult result =
        DRIVER_REAL(entry, cuMemAllocFromPoolAsync_v11020)(dptr, bytesize, pool, hStream);
    out_of_memory_ended(entry, result, bytesize, OUT_OF_MEMORY_DEVICE);
    if (result == CUDA_SUCCESS)
        born_on_stream(entry, *dptr, bytesize, hStream, true);
    return result;
}

static csan_free *stream_death_begin(CUdeviceptr_v2 base, struct stream *stream, csan_site site)
{
    uint64_t bytes = 0;
    stream_look(stream);
    if (csan_memory_find(session_context(), base, NULL, &bytes, NULL))
        known_contents_forget(base, bytes);
    return csan_memory_free_begin(session_context(), base, stream_lane(stream), 1, site);
}

CUresult hook_memory_free_async(const struct driver_entry *entry, CUdeviceptr_v2 dptr,
                                CUstream hStream)
{
    PFN_cuMemFreeAsync_v11020 real = DRIVER_REAL(entry, cuMemFreeAsync_v11020);
    csan_site site = site_here(entry);
    bool captured = stream_is_capturing(hStream, entry->thread_default);
    if (!dptr || captured) {
        CUresult result = real(dptr, hStream);
        if (dptr && result == CUDA_SUCCESS)
            capture_work(hStream, entry->thread_default,
                         graph_node_work_memory(GRAPH_NODE_DEATH, site, dptr, 0));
        return result;
    }
    csan_free *token = NULL;
    struct stream *stream = stream_lock_known(hStream, entry->thread_default);
    bool known = stream != NULL;
    if (stream) {
        token = stream_death_begin(dptr, stream, site);
        guard_unlock();
    }
    CUresult result = real(dptr, hStream);
    /* A stream csan meets here for the first time: its handle is good only when the call was. */
    if (!known && result == CUDA_SUCCESS &&
        (stream = stream_lock(hStream, entry->thread_default)) != NULL) {
        token = stream_death_begin(dptr, stream, site);
        guard_unlock();
    }
    if (token) {
        csan_memory_free_end(session_context(), token, result != CUDA_SUCCESS, 0);
        if (result == CUDA_SUCCESS)
            death_owned(dptr);
    }
    if (refused_call_matters(result))
        refused_call_free(site, dptr);
    if (result == CUDA_SUCCESS &&
        (stream = stream_lock_known(hStream, entry->thread_default)) != NULL) {
        stream_use(stream); /* now it is work: streams that wait for the legacy one join it */
        guard_unlock();
    }
    return result;
}
