/* The hooks of green contexts, which are parts of a device's primary context, and of events of
 * whole contexts. A record holds "all the activities of the context at the time of this call", and
 * a wait is for "all future work submitted" to it. For a primary context this includes its green
 * contexts (CUDA Driver API, cuCtxRecordEvent, cuCtxWaitEvent). */
#include "driver_hooks.h"
#include "runtime/hook/state/event_table.h"
#include "runtime/hook/state/callsite.h"
#include "runtime/hook/state/device_name.h"
#include "runtime/hook/session/guard.h"
#include "runtime/hook/state/handle_table.h"
#include "runtime/hook/api/memory.h"
#include "runtime/hook/state/stream.h"
#include "runtime/hook/observe/trace.h"
#include "runtime/hook/observe/trace_source.h"
#include "runtime/hook/session/session.h"

#include <stdlib.h>

struct green {
    CUgreenCtx handle;
    CUcontext context;
    UT_hash_handle hh;
};

static struct {
    struct green *greens; /* under the hooks' lock */
    void *from_green, *retain, *release;
} table;

static CUcontext context_of_green(CUgreenCtx handle)
{
    CUcontext context = NULL;
    PFN_cuCtxFromGreenCtx_v12040 from_green = (PFN_cuCtxFromGreenCtx_v12040)driver_function_cached(
        &table.from_green, "cuCtxFromGreenCtx");
    return from_green && from_green(&context, handle) == CUDA_SUCCESS ? context : NULL;
}

/* A green context keeps it: it does not come to be by being asked for. */
static CUcontext primary_of(CUdevice_v1 device)
{
    CUcontext context = NULL;
    PFN_cuDevicePrimaryCtxRetain_v7000 retain =
        (PFN_cuDevicePrimaryCtxRetain_v7000)driver_function_cached(&table.retain,
                                                                   "cuDevicePrimaryCtxRetain");
    PFN_cuDevicePrimaryCtxRelease_v11000 release =
        (PFN_cuDevicePrimaryCtxRelease_v11000)driver_function_cached(
            &table.release, "cuDevicePrimaryCtxRelease_v2");
    if (!retain || !release || retain(&context, device) != CUDA_SUCCESS)
        return NULL;
    release(device);
    return context;
}

static struct green *green_find(CUgreenCtx handle)
{
    struct green *green = NULL;
    HASH_FIND_PTR(table.greens, &handle, green);
    return green;
}

static void created(CUgreenCtx handle, CUdevice_v1 device)
{
    CUcontext context = context_of_green(handle), whole = primary_of(device);
    struct green *green = context ? calloc(1, sizeof *green) : NULL;
    if (!green)
        return;
    green->handle = handle;
    green->context = context;
    guard_lock();
    struct green *stale = green_find(handle);
    if (stale)
        HASH_DEL(table.greens, stale);
    free(stale);
    HASH_ADD_PTR(table.greens, handle, green);
    if (whole)
        stream_context_within(context, whole);
    guard_unlock();
}

CUresult hook_green_create(const struct driver_entry *entry, CUgreenCtx *phCtx,
                           CUdevResourceDesc desc, CUdevice_v1 dev, unsigned int flags)
{
    CUresult result = DRIVER_REAL(entry, cuGreenCtxCreate_v12040)(phCtx, desc, dev, flags);
    trace_source_context_made(); /* the primary one, perhaps */
    if (result == CUDA_SUCCESS) {
        device_name_seen(dev);
        created(*phCtx, dev);
    }
    return result;
}

CUresult hook_green_destroy(const struct driver_entry *entry, CUgreenCtx hCtx)
{
    bool rested = trace_rest();
    CUresult result = DRIVER_REAL(entry, cuGreenCtxDestroy_v12040)(hCtx);
    trace_resume(rested);
    guard_waited();
    guard_lock();
    struct green *green = result == CUDA_SUCCESS ? green_find(hCtx) : NULL;
    if (green) {
        HASH_DEL(table.greens, green);
        stream_context_destroyed(green->context);
        free(green);
    }
    guard_unlock();
    return result;
}

CUresult hook_green_stream_create(const struct driver_entry *entry, CUstream *phStream,
                                  CUgreenCtx greenCtx, unsigned int flags, int priority)
{
    CUresult result =
        DRIVER_REAL(entry, cuGreenCtxStreamCreate_v12050)(phStream, greenCtx, flags, priority);
    const csan_site site = callsite_of(entry->name, NULL, 0);
    guard_lock();
    const struct green *green = result == CUDA_SUCCESS ? green_find(greenCtx) : NULL;
    if (green)
        stream_created(*phStream, green->context, !(flags & CU_STREAM_NON_BLOCKING), site);
    guard_unlock();
    return result;
}

/* ---- Events of contexts, with the lock held ---- */

static void record(CUcontext context, CUevent event)
{
    csan_lane lane = csan_lane_create(session_context(), 0, "a context");
    if (lane == CSAN_NO_LANE)
        return;
    stream_context_gather(context, lane);
    csan_snapshot *all = csan_snapshot_take(session_context(), lane);
    if (all)
        event_record_snapshot(event, all, 0);
    csan_snapshot_release(session_context(), all);
    csan_lane_destroy(session_context(), lane);
}

static void wait_for(CUcontext context, CUevent handle)
{
    csan_event *event = event_recorded_of(handle);
    if (event)
        stream_context_wait(context, event);
}

/* Makes the call, and notes it when it succeeded; `context`: with the lock, or NULL. */
#define CONTEXT_HOOK(call, context, note)                                                          \
    CUresult result = call;                                                                        \
    guard_lock();                                                                                  \
    CUcontext found = result == CUDA_SUCCESS ? (context) : NULL;                                   \
    if (found)                                                                                     \
        note(found, hEvent);                                                                       \
    guard_unlock();                                                                                \
    return result

static CUcontext known_context(CUgreenCtx handle)
{
    const struct green *green = green_find(handle);
    return green ? green->context : NULL;
}

CUresult hook_green_record_event(const struct driver_entry *entry, CUgreenCtx hCtx, CUevent hEvent)
{
    CONTEXT_HOOK(DRIVER_REAL(entry, cuGreenCtxRecordEvent_v12040)(hCtx, hEvent),
                 known_context(hCtx), record);
}

CUresult hook_green_wait_event(const struct driver_entry *entry, CUgreenCtx hCtx, CUevent hEvent)
{
    CONTEXT_HOOK(DRIVER_REAL(entry, cuGreenCtxWaitEvent_v12040)(hCtx, hEvent), known_context(hCtx),
                 wait_for);
}

CUresult hook_context_record_event(const struct driver_entry *entry, CUcontext hCtx, CUevent hEvent)
{
    CONTEXT_HOOK(DRIVER_REAL(entry, cuCtxRecordEvent_v12050)(hCtx, hEvent), hCtx, record);
}

CUresult hook_context_wait_event(const struct driver_entry *entry, CUcontext hCtx, CUevent hEvent)
{
    CONTEXT_HOOK(DRIVER_REAL(entry, cuCtxWaitEvent_v12050)(hCtx, hEvent), hCtx, wait_for);
}
