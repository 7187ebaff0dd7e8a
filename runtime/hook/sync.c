/* The hooks of streams and contexts: making and ending them, and waiting for them.
 *
 * A synchronize or query covers what was enqueued when it was called, so its snapshot is taken at
 * entry; it orders that before the host only when the call said that it is done. */
#include "driver_hooks.h"
#include "runtime/hook/guard.h"
#include "runtime/hook/injection.h"
#include "runtime/hook/memory.h"
#include "runtime/hook/stream.h"
#include "runtime/hook/thread.h"
#include "runtime/hook/trace.h"
#include "runtime/hook/value.h"

#include <stdlib.h>

/* ---- Streams ---- */

static void created(CUstream handle, bool blocking)
{
    CUcontext context = stream_current_context();
    if (!context)
        return;
    guard_lock();
    stream_created(handle, context, blocking);
    guard_unlock();
}

CUresult hook_stream_create(const struct driver_entry *entry, CUstream *phStream,
                            unsigned int Flags)
{
    if (!guard_enter())
        return DRIVER_REAL(entry, cuStreamCreate_v2000)(phStream, Flags);
    CUresult result = DRIVER_REAL(entry, cuStreamCreate_v2000)(phStream, Flags);
    if (result == CUDA_SUCCESS)
        created(*phStream, !(Flags & CU_STREAM_NON_BLOCKING));
    guard_leave();
    return result;
}

CUresult hook_stream_create_with_priority(const struct driver_entry *entry, CUstream *phStream,
                                          unsigned int flags, int priority)
{
    if (!guard_enter())
        return DRIVER_REAL(entry, cuStreamCreateWithPriority_v5050)(phStream, flags, priority);
    CUresult result =
        DRIVER_REAL(entry, cuStreamCreateWithPriority_v5050)(phStream, flags, priority);
    if (result == CUDA_SUCCESS)
        created(*phStream, !(flags & CU_STREAM_NON_BLOCKING));
    guard_leave();
    return result;
}

CUresult hook_stream_destroy(const struct driver_entry *entry, CUstream hStream)
{
    if (!guard_enter())
        return DRIVER_REAL(entry, cuStreamDestroy_v4000)(hStream);
    guard_lock();
    struct stream *stream = stream_take_out(hStream);
    guard_unlock();
    CUresult result = DRIVER_REAL(entry, cuStreamDestroy_v4000)(hStream);
    if (stream) {
        guard_lock();
        if (result == CUDA_SUCCESS)
            stream_destroyed(stream);
        else
            stream_put_back(stream);
        guard_unlock();
    }
    guard_leave();
    return result;
}

/* What a wait for a stream covers, as of when it began. */
struct covered {
    csan_snapshot *snapshot; /* NULL when csan has seen nothing of the stream */
    struct value_scope scope;
};

static struct covered covered_now(CUstream handle, bool thread_default)
{
    struct covered covered = {0};
    struct stream *stream = stream_lock_known(handle, thread_default);
    if (!stream)
        return covered;
    covered.snapshot = stream_snapshot(stream);
    covered.scope = value_scope_of(stream);
    guard_unlock();
    return covered;
}

static void stream_finished(const struct covered *covered, CUresult result)
{
    if (!covered->snapshot)
        return;
    if (result == CUDA_SUCCESS) {
        value_settle(&covered->scope);
        csan_snapshot_join(process_context(), thread_lane(), covered->snapshot);
    }
    csan_snapshot_release(process_context(), covered->snapshot);
}

CUresult hook_stream_synchronize(const struct driver_entry *entry, CUstream hStream)
{
    if (!guard_enter())
        return DRIVER_REAL(entry, cuStreamSynchronize_v2000)(hStream);
    if (injection_drops_stream(hStream, entry->thread_default)) {
        guard_leave();
        return CUDA_SUCCESS;
    }
    struct covered covered = covered_now(hStream, entry->thread_default);
    CUresult result = DRIVER_REAL(entry, cuStreamSynchronize_v2000)(hStream);
    stream_finished(&covered, result);
    trace_waited();
    guard_leave();
    return result;
}

CUresult hook_stream_query(const struct driver_entry *entry, CUstream hStream)
{
    if (!guard_enter())
        return DRIVER_REAL(entry, cuStreamQuery_v2000)(hStream);
    struct covered covered = covered_now(hStream, entry->thread_default);
    CUresult result = DRIVER_REAL(entry, cuStreamQuery_v2000)(hStream);
    stream_finished(&covered, result);
    guard_leave();
    return result;
}

/* ---- Contexts ---- */

static void cut_now(CUcontext context, struct stream_cut *cut)
{
    guard_lock();
    stream_cut_take(context, cut);
    guard_unlock();
}

static void cut_end(CUcontext context, struct stream_cut *cut, CUresult result)
{
    if (result == CUDA_SUCCESS)
        value_settle(&(struct value_scope){CSAN_NO_LANE, context, false});
    stream_cut_release(cut, result == CUDA_SUCCESS);
    trace_waited();
}

CUresult hook_context_synchronize(const struct driver_entry *entry)
{
    if (!guard_enter())
        return DRIVER_REAL(entry, cuCtxSynchronize_v2000)();
    if (injection_drops_context(NULL)) {
        guard_leave();
        return CUDA_SUCCESS;
    }
    struct stream_cut cut;
    CUcontext context = stream_current_context();
    cut_now(context, &cut);
    CUresult result = DRIVER_REAL(entry, cuCtxSynchronize_v2000)();
    cut_end(context, &cut, result);
    guard_leave();
    return result;
}

CUresult hook_context_synchronize_of(const struct driver_entry *entry, CUcontext ctx)
{
    if (!guard_enter())
        return DRIVER_REAL(entry, cuCtxSynchronize_v13000)(ctx);
    if (injection_drops_context(ctx)) {
        guard_leave();
        return CUDA_SUCCESS;
    }
    struct stream_cut cut;
    CUcontext context = ctx ? ctx : stream_current_context();
    cut_now(context, &cut);
    CUresult result = DRIVER_REAL(entry, cuCtxSynchronize_v13000)(ctx);
    cut_end(context, &cut, result);
    guard_leave();
    return result;
}

/* The end of a context ends all its work; nothing of it can race with what comes after. */
static void context_ended(CUcontext context)
{
    if (!context)
        return;
    guard_lock();
    stream_context_destroyed(context);
    memory_context_destroyed(context);
    guard_unlock();
}

CUresult hook_context_destroy(const struct driver_entry *entry, CUcontext ctx)
{
    if (!guard_enter())
        return DRIVER_REAL(entry, cuCtxDestroy_v4000)(ctx);
    bool rested = trace_rest();
    CUresult result = DRIVER_REAL(entry, cuCtxDestroy_v4000)(ctx);
    trace_resume(rested);
    if (result == CUDA_SUCCESS)
        context_ended(ctx);
    guard_leave();
    return result;
}

/* Deprecated reference counting: the context is gone when the driver no longer knows it. */
CUresult hook_context_detach(const struct driver_entry *entry, CUcontext ctx)
{
    if (!guard_enter())
        return DRIVER_REAL(entry, cuCtxDetach_v2000)(ctx);
    bool rested = trace_rest();
    CUresult result = DRIVER_REAL(entry, cuCtxDetach_v2000)(ctx);
    trace_resume(rested);
    unsigned version;
    PFN_cuCtxGetApiVersion_v3020 get_version =
        (PFN_cuCtxGetApiVersion_v3020)driver_function("cuCtxGetApiVersion");
    if (result == CUDA_SUCCESS && get_version && get_version(ctx, &version) != CUDA_SUCCESS)
        context_ended(ctx);
    guard_leave();
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
    CUresult result = DRIVER_REAL(entry, cuDevicePrimaryCtxRetain_v7000)(pctx, dev);
    if (result == CUDA_SUCCESS && dev >= 0 && dev < DEVICE_LIMIT)
        __atomic_store_n(&primary.of_device[dev], *pctx, __ATOMIC_RELEASE);
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
    if (!guard_enter())
        return DRIVER_REAL(entry, cuDevicePrimaryCtxRelease_v11000)(dev);
    bool rested = trace_rest();
    CUresult result = DRIVER_REAL(entry, cuDevicePrimaryCtxRelease_v11000)(dev);
    trace_resume(rested);
    if (result == CUDA_SUCCESS && !primary_is_alive(dev))
        context_ended(primary_of(dev));
    guard_leave();
    return result;
}

CUresult hook_primary_context_reset(const struct driver_entry *entry, CUdevice_v1 dev)
{
    if (!guard_enter())
        return DRIVER_REAL(entry, cuDevicePrimaryCtxReset_v11000)(dev);
    bool rested = trace_rest();
    CUresult result = DRIVER_REAL(entry, cuDevicePrimaryCtxReset_v11000)(dev);
    trace_resume(rested);
    if (result == CUDA_SUCCESS)
        context_ended(primary_of(dev));
    guard_leave();
    return result;
}
