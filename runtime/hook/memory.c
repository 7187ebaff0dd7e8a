/* The hooks of memory: births and deaths of allocations.
 *
 * cuMemFree and cuMemFreeHost wait for the work of the device whose memory it is before they free
 * ("may", says the CUDA Driver API, "API synchronization behavior"; every driver does), so they
 * order all of it before the host. They do not wait for other devices (tests/litmus): of those the
 * free is checked as an access that comes after its own device's work. For memory of
 * cuMemAllocAsync they do not wait, and that free is checked as an access of the host. A
 * stream-ordered birth or death is work of its stream. */
#include "runtime/hook/memory.h"
#include "driver_hooks.h"
#include "runtime/hook/base.h"
#include "runtime/hook/callsite.h"
#include "runtime/hook/capture.h"
#include "runtime/hook/content.h"
#include "runtime/hook/guard.h"
#include "runtime/hook/handle_table.h"
#include "runtime/hook/node.h"
#include "runtime/hook/operation.h"
#include "runtime/hook/stream.h"
#include "runtime/hook/thread.h"
#include "runtime/hook/value.h"

#include <stdlib.h>

static csan_site site_here(const struct driver_entry *entry)
{
    return callsite_of_memory(entry->name);
}

/* ---- Whose memory it is ---- */

/* An allocation ends with its context, unless it is freed before. */
struct owned {
    uint64_t base;
    CUcontext context;
    UT_hash_handle hh;
};

static struct {
    struct owned *owned; /* under the guard's lock */
} table;

static void own(uint64_t base, CUcontext context)
{
    struct owned *owned = NULL;
    HASH_FIND(hh, table.owned, &base, sizeof base, owned);
    if (!owned && (owned = calloc(1, sizeof *owned)) != NULL) {
        owned->base = base;
        HASH_ADD(hh, table.owned, base, sizeof base, owned);
    }
    if (owned)
        owned->context = context;
}

static void disown(uint64_t base)
{
    struct owned *owned = NULL;
    HASH_FIND(hh, table.owned, &base, sizeof base, owned);
    if (!owned)
        return;
    HASH_DEL(table.owned, owned);
    free(owned);
}

void memory_context_destroyed(CUcontext context)
{
    struct owned *owned = NULL, *next = NULL;
    base_addresses_changed();
    HASH_ITER(hh, table.owned, owned, next)
    {
        if (owned->context != context)
            continue;
        csan_free *token =
            csan_memory_free_begin(process_context(), owned->base, thread_lane(), 0, 0);
        if (token)
            csan_memory_free_end(process_context(), token, 0, CSAN_FREE_FORGOTTEN);
        HASH_DEL(table.owned, owned);
        free(owned);
    }
}

/* ---- Births at the host ---- */

static void born(const struct driver_entry *entry, enum csan_memory_kind kind, uint64_t base,
                 uint64_t bytes)
{
    CUcontext context = stream_current_context();
    if (!base || !bytes)
        return;
    csan_site site = site_here(entry);
    content_forget(base, bytes);
    guard_lock();
    value_forget(base, bytes);
    csan_memory_create(process_context(), kind, base, bytes, CSAN_HOST, site);
    own(base, context);
    operation_library_memory_made(base, bytes);
    guard_unlock();
}

CUresult hook_memory_alloc(const struct driver_entry *entry, CUdeviceptr_v2 *dptr, size_t bytesize)
{
    if (!guard_enter())
        return DRIVER_REAL(entry, cuMemAlloc_v3020)(dptr, bytesize);
    CUresult result = DRIVER_REAL(entry, cuMemAlloc_v3020)(dptr, bytesize);
    if (result == CUDA_SUCCESS)
        born(entry, CSAN_MEMORY_DEVICE, *dptr, bytesize);
    guard_leave();
    return result;
}

CUresult hook_memory_alloc_pitch(const struct driver_entry *entry, CUdeviceptr_v2 *dptr,
                                 size_t *pPitch, size_t WidthInBytes, size_t Height,
                                 unsigned int ElementSizeBytes)
{
    PFN_cuMemAllocPitch_v3020 real = DRIVER_REAL(entry, cuMemAllocPitch_v3020);
    if (!guard_enter())
        return real(dptr, pPitch, WidthInBytes, Height, ElementSizeBytes);
    CUresult result = real(dptr, pPitch, WidthInBytes, Height, ElementSizeBytes);
    if (result == CUDA_SUCCESS)
        born(entry, CSAN_MEMORY_DEVICE, *dptr, *pPitch * Height);
    guard_leave();
    return result;
}

CUresult hook_memory_alloc_managed(const struct driver_entry *entry, CUdeviceptr_v2 *dptr,
                                   size_t bytesize, unsigned int flags)
{
    if (!guard_enter())
        return DRIVER_REAL(entry, cuMemAllocManaged_v6000)(dptr, bytesize, flags);
    CUresult result = DRIVER_REAL(entry, cuMemAllocManaged_v6000)(dptr, bytesize, flags);
    if (result == CUDA_SUCCESS)
        born(entry, CSAN_MEMORY_MANAGED, *dptr, bytesize);
    guard_leave();
    return result;
}

CUresult hook_memory_alloc_host(const struct driver_entry *entry, void **pp, size_t bytesize)
{
    if (!guard_enter())
        return DRIVER_REAL(entry, cuMemAllocHost_v3020)(pp, bytesize);
    CUresult result = DRIVER_REAL(entry, cuMemAllocHost_v3020)(pp, bytesize);
    if (result == CUDA_SUCCESS)
        born(entry, CSAN_MEMORY_HOST, (uintptr_t)*pp, bytesize);
    guard_leave();
    return result;
}

CUresult hook_memory_host_alloc(const struct driver_entry *entry, void **pp, size_t bytesize,
                                unsigned int Flags)
{
    if (!guard_enter())
        return DRIVER_REAL(entry, cuMemHostAlloc_v2020)(pp, bytesize, Flags);
    CUresult result = DRIVER_REAL(entry, cuMemHostAlloc_v2020)(pp, bytesize, Flags);
    if (result == CUDA_SUCCESS)
        born(entry, CSAN_MEMORY_HOST, (uintptr_t)*pp, bytesize);
    guard_leave();
    return result;
}

CUresult hook_memory_host_register(const struct driver_entry *entry, void *p, size_t bytesize,
                                   unsigned int Flags)
{
    if (!guard_enter())
        return DRIVER_REAL(entry, cuMemHostRegister_v6050)(p, bytesize, Flags);
    CUresult result = DRIVER_REAL(entry, cuMemHostRegister_v6050)(p, bytesize, Flags);
    if (result == CUDA_SUCCESS) {
        csan_lane_seen_to_wait(process_context(), CSAN_NO_LANE, entry->name);
        born(entry, CSAN_MEMORY_HOST, (uintptr_t)p, bytesize);
    }
    guard_leave();
    return result;
}

/* ---- Deaths at the host ---- */

/* Another thread may have been given the same address by now: its allocation is the newer one. */
static void death_owned(uint64_t base)
{
    guard_lock();
    if (!csan_memory_find(process_context(), base, NULL, NULL, NULL))
        disown(base);
    guard_unlock();
}

static CUcontext owner_of(uint64_t base)
{
    struct owned *owned = NULL;
    HASH_FIND(hh, table.owned, &base, sizeof base, owned);
    return owned ? owned->context : NULL;
}

/* What the call will have waited for. */
static void death_covers(struct memory_death *death, uint64_t base)
{
    CUcontext current = stream_current_context();
    guard_lock();
    CUcontext owner = owner_of(base);
    death->context = owner ? owner : current;
    if (stream_context_is_apart(&death->context)) {
        death->covered = thread_makes_lane(0, "a free");
        if (death->covered != CSAN_NO_LANE)
            stream_context_gather(death->context, death->covered);
    }
    guard_unlock();
}

struct memory_death memory_death_begin(const struct driver_entry *entry, uint64_t base)
{
    struct memory_death death = {.covered = CSAN_NO_LANE, .waits = true};
    uint64_t found = 0, bytes = 0;
    enum csan_memory_kind kind = CSAN_MEMORY_DEVICE;
    if (!base)
        return death;
    bool known = csan_memory_find(process_context(), base, &found, &bytes, &kind) && found == base;
    death.waits = !known || kind != CSAN_MEMORY_STREAM;
    if (death.waits)
        death_covers(&death, base);
    if (!known) {
        content_forget_all();
        if (death.covered == CSAN_NO_LANE)
            death.all = csan_snapshot_take_all(process_context());
        return death;
    }
    content_forget(base, bytes);
    bool strict = death.waits && process_options()->strict_free;
    if (strict)
        csan_lane_seen_to_wait(process_context(), death.covered, entry->name);
    bool apart = death.covered != CSAN_NO_LANE;
    death.token = csan_memory_free_begin(process_context(), base,
                                         apart && !strict ? death.covered : thread_lane(),
                                         apart || strict || !death.waits, site_here(entry));
    return death;
}

void memory_death_end(struct memory_death *death, uint64_t base, CUresult result)
{
    bool apart = death->covered != CSAN_NO_LANE;
    enum csan_free_waits waited = apart ? CSAN_FREE_FORGOTTEN : CSAN_FREE_WAITED;
    guard_waited();
    if (result == CUDA_SUCCESS && death->waits)
        value_settle(
            &(struct value_scope){.lane = CSAN_NO_LANE, .context = apart ? death->context : NULL});
    if (death->token) {
        csan_memory_free_end(process_context(), death->token, result != CUDA_SUCCESS,
                             death->waits ? waited : CSAN_FREE_NO_WAIT);
        if (result == CUDA_SUCCESS)
            death_owned(base);
    }
    if (apart && result == CUDA_SUCCESS)
        csan_lane_waits(process_context(), thread_lane(), death->covered);
    if (apart)
        csan_lane_destroy(process_context(), death->covered);
    if (death->all && result == CUDA_SUCCESS)
        csan_snapshot_join(process_context(), thread_lane(), death->all);
    if (death->all)
        csan_snapshot_release(process_context(), death->all);
}

CUresult hook_memory_free(const struct driver_entry *entry, CUdeviceptr_v2 dptr)
{
    if (!guard_enter())
        return DRIVER_REAL(entry, cuMemFree_v3020)(dptr);
    struct memory_death death = memory_death_begin(entry, dptr);
    CUresult result = DRIVER_REAL(entry, cuMemFree_v3020)(dptr);
    memory_death_end(&death, dptr, result);
    guard_leave();
    return result;
}

CUresult hook_memory_free_host(const struct driver_entry *entry, void *p)
{
    if (!guard_enter())
        return DRIVER_REAL(entry, cuMemFreeHost_v2000)(p);
    struct memory_death death = memory_death_begin(entry, (uintptr_t)p);
    CUresult result = DRIVER_REAL(entry, cuMemFreeHost_v2000)(p);
    memory_death_end(&death, (uintptr_t)p, result);
    guard_leave();
    return result;
}

CUresult hook_memory_host_unregister(const struct driver_entry *entry, void *p)
{
    if (!guard_enter())
        return DRIVER_REAL(entry, cuMemHostUnregister_v4000)(p);
    struct memory_death death = memory_death_begin(entry, (uintptr_t)p);
    CUresult result = DRIVER_REAL(entry, cuMemHostUnregister_v4000)(p);
    memory_death_end(&death, (uintptr_t)p, result);
    guard_leave();
    return result;
}

/* ---- Births and deaths on a stream ---- */

static void born_on_stream(const struct driver_entry *entry, CUdeviceptr_v2 base, size_t bytes,
                           CUstream handle)
{
    if (!base || !bytes)
        return;
    csan_site site = site_here(entry);
    if (stream_is_capturing(handle, entry->thread_default)) {
        capture_work(handle, entry->thread_default,
                     node_work_memory(NODE_BIRTH, site, base, bytes));
        return;
    }
    content_forget(base, bytes);
    struct stream *stream = stream_lock(handle, entry->thread_default);
    if (!stream)
        return;
    stream_use(stream);
    value_forget(base, bytes);
    operation_memory_made(base, bytes);
    csan_memory_create(process_context(), CSAN_MEMORY_STREAM, base, bytes, stream_lane(stream),
                       site);
    own(base, stream_context(stream));
    guard_unlock();
}

CUresult hook_memory_alloc_async(const struct driver_entry *entry, CUdeviceptr_v2 *dptr,
                                 size_t bytesize, CUstream hStream)
{
    if (!guard_enter())
        return DRIVER_REAL(entry, cuMemAllocAsync_v11020)(dptr, bytesize, hStream);
    CUresult result = DRIVER_REAL(entry, cuMemAllocAsync_v11020)(dptr, bytesize, hStream);
    if (result == CUDA_SUCCESS)
        born_on_stream(entry, *dptr, bytesize, hStream);
    guard_leave();
    return result;
}

CUresult hook_memory_alloc_from_pool_async(const struct driver_entry *entry, CUdeviceptr_v2 *dptr,
                                           size_t bytesize, CUmemoryPool pool, CUstream hStream)
{
    PFN_cuMemAllocFromPoolAsync_v11020 real = DRIVER_REAL(entry, cuMemAllocFromPoolAsync_v11020);
    if (!guard_enter())
        return real(dptr, bytesize, pool, hStream);
    CUresult result = real(dptr, bytesize, pool, hStream);
    if (result == CUDA_SUCCESS)
        born_on_stream(entry, *dptr, bytesize, hStream);
    guard_leave();
    return result;
}

static csan_free *stream_death_begin(CUdeviceptr_v2 base, struct stream *stream, csan_site site)
{
    uint64_t bytes = 0;
    stream_look(stream);
    if (csan_memory_find(process_context(), base, NULL, &bytes, NULL))
        content_forget(base, bytes);
    return csan_memory_free_begin(process_context(), base, stream_lane(stream), 1, site);
}

CUresult hook_memory_free_async(const struct driver_entry *entry, CUdeviceptr_v2 dptr,
                                CUstream hStream)
{
    PFN_cuMemFreeAsync_v11020 real = DRIVER_REAL(entry, cuMemFreeAsync_v11020);
    if (!guard_enter())
        return real(dptr, hStream);
    csan_site site = site_here(entry);
    bool captured = stream_is_capturing(hStream, entry->thread_default);
    if (!dptr || captured) {
        CUresult result = real(dptr, hStream);
        if (dptr && result == CUDA_SUCCESS)
            capture_work(hStream, entry->thread_default,
                         node_work_memory(NODE_DEATH, site, dptr, 0));
        guard_leave();
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
        csan_memory_free_end(process_context(), token, result != CUDA_SUCCESS, 0);
        if (result == CUDA_SUCCESS)
            death_owned(dptr);
    }
    if (result == CUDA_SUCCESS &&
        (stream = stream_lock_known(hStream, entry->thread_default)) != NULL) {
        stream_use(stream); /* now it is work: streams that wait for the legacy one join it */
        guard_unlock();
    }
    guard_leave();
    return result;
}
