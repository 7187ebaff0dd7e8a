/* The hooks of contexts: making and ending them. */
#include "driver_hooks.h"
#include "runtime/hook/state/device_name.h"
#include "runtime/hook/failure/dump.h"
#include "runtime/hook/failure/progress.h"
#include "runtime/hook/host/host_access.h"
#include "runtime/hook/session/guard.h"
#include "runtime/hook/session/recorded_device.h"
#include "runtime/hook/api/memory.h"
#include "runtime/hook/state/stream.h"
#include "runtime/hook/observe/trace.h"
#include "runtime/hook/observe/trace_source.h"
#include "runtime/hook/state/variable.h"

/* ---- Making them ---- */

static void context_made(CUresult result, const CUcontext *context, CUdevice device)
{
    trace_source_context_made();
    host_access_begin();
    if (result != CUDA_SUCCESS)
        return;
    device_name_seen(device);
    guard_lock();
    recorded_device_is(*context, device);
    guard_unlock();
}

CUresult hook_context_create(const struct driver_entry *entry, CUcontext *pctx, unsigned int flags,
                             CUdevice_v1 dev)
{
    dump_prepare();
    CUresult result = DRIVER_REAL(entry, cuCtxCreate_v3020)(pctx, flags, dev);
    context_made(result, pctx, dev);
    return result;
}

CUresult hook_context_create_v3(const struct driver_entry *entry, CUcontext *pctx,
                                CUexecAffinityParam *paramsArray, int numParams, unsigned int flags,
                                CUdevice_v1 dev)
{
    dump_prepare();
    CUresult result =
        DRIVER_REAL(entry, cuCtxCreate_v11040)(pctx, paramsArray, numParams, flags, dev);
    context_made(result, pctx, dev);
    return result;
}

CUresult hook_context_create_v4(const struct driver_entry *entry, CUcontext *pctx,
                                CUctxCreateParams *ctxCreateParams, unsigned int flags,
                                CUdevice dev)
{
    dump_prepare();
    CUresult result = DRIVER_REAL(entry, cuCtxCreate_v12050)(pctx, ctxCreateParams, flags, dev);
    context_made(result, pctx, dev);
    return result;
}

enum { DEVICE_LIMIT = 64 };

/* The primary context of each device, as cuDevicePrimaryCtxRetain gave it. */
static struct {
    CUcontext of_device[DEVICE_LIMIT];
    void *get_state;
} primary;

CUresult hook_primary_context_retain(const struct driver_entry *entry, CUcontext *pctx,
                                     CUdevice_v1 dev)
{
    const bool entered = guard_enter();
    if (entered)
        dump_prepare();
    CUresult result = DRIVER_REAL(entry, cuDevicePrimaryCtxRetain_v7000)(pctx, dev);
    if (result == CUDA_SUCCESS && dev >= 0 && dev < DEVICE_LIMIT)
        __atomic_store_n(&primary.of_device[dev], *pctx, __ATOMIC_RELEASE);
    if (!entered)
        return result;
    context_made(result, pctx, dev);
    guard_leave();
    return result;
}

/* ---- Ending them ---- */

/* The end of a context ends all its work; nothing of it can race with what comes after. */
static void context_ended(CUcontext context)
{
    if (!context)
        return;
    dump_context_ended(context);
    progress_context_ended(context);
    guard_waited();
    guard_lock();
    stream_context_destroyed(context);
    memory_context_destroyed(context);
    variable_context_ended(context);
    recorded_device_ended(context);
    guard_unlock();
}

CUresult hook_context_destroy(const struct driver_entry *entry, CUcontext ctx)
{
    bool rested = trace_rest();
    CUresult result = DRIVER_REAL(entry, cuCtxDestroy_v4000)(ctx);
    trace_resume(rested);
    if (result == CUDA_SUCCESS)
        context_ended(ctx);
    return result;
}

/* Deprecated reference counting: the context is gone when the driver no longer knows it. */
CUresult hook_context_detach(const struct driver_entry *entry, CUcontext ctx)
{
    bool rested = trace_rest();
    CUresult result = DRIVER_REAL(entry, cuCtxDetach_v2000)(ctx);
    trace_resume(rested);
    unsigned version;
    PFN_cuCtxGetApiVersion_v3020 get_version =
        (PFN_cuCtxGetApiVersion_v3020)driver_function("cuCtxGetApiVersion");
    if (result == CUDA_SUCCESS && get_version && get_version(ctx, &version) != CUDA_SUCCESS)
        context_ended(ctx);
    return result;
}

static CUcontext primary_of(CUdevice_v1 device)
{
    if (device < 0 || device >= DEVICE_LIMIT)
        return NULL;
    return __atomic_load_n(&primary.of_device[device], __ATOMIC_ACQUIRE);
}

/* Others may still hold the context after one release. */
static bool primary_is_alive(CUdevice_v1 device)
{
    unsigned flags;
    int active = 0;
    PFN_cuDevicePrimaryCtxGetState_v7000 get_state =
        (PFN_cuDevicePrimaryCtxGetState_v7000)driver_function_cached(&primary.get_state,
                                                                     "cuDevicePrimaryCtxGetState");
    return !get_state || get_state(device, &flags, &active) != CUDA_SUCCESS || active;
}

CUresult hook_primary_context_release(const struct driver_entry *entry, CUdevice_v1 dev)
{
    bool rested = trace_rest();
    CUresult result = DRIVER_REAL(entry, cuDevicePrimaryCtxRelease_v11000)(dev);
    trace_resume(rested);
    if (result == CUDA_SUCCESS && !primary_is_alive(dev))
        context_ended(primary_of(dev));
    return result;
}

CUresult hook_primary_context_reset(const struct driver_entry *entry, CUdevice_v1 dev)
{
    bool rested = trace_rest();
    CUresult result = DRIVER_REAL(entry, cuDevicePrimaryCtxReset_v11000)(dev);
    trace_resume(rested);
    if (result == CUDA_SUCCESS)
        context_ended(primary_of(dev));
    return result;
}
