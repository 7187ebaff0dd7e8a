/* The hooks of streams: making and ending them, and waiting for them or for all of a context.
 *
 * A synchronize or query covers what was enqueued when it was called, so its snapshot is taken at
 * entry; it orders that before the host only when the call said that it is done. */
#include "driver_hooks.h"
#include "runtime/hook/api/host_wait.h"
#include "runtime/hook/operator/operator_summary.h"
#include "runtime/hook/state/callsite.h"
#include "runtime/hook/session/guard.h"
#include "runtime/hook/api/dropped_sync.h"
#include "runtime/hook/api/memory.h"
#include "runtime/hook/state/stream.h"
#include "runtime/hook/state/thread.h"
#include "runtime/hook/observe/trace.h"
#include "runtime/hook/state/stream_memop.h"
#include "runtime/hook/session/session.h"
#include "runtime/hook/session/recorded_device.h"
#include "runtime/hook/session/recorded_wait.h"

#include <stdlib.h>

const struct sync_dropper *sync_dropper;

/* ---- Streams ---- */

static void created(const struct driver_entry *entry, CUstream handle, bool blocking)
{
    const csan_site site = callsite_of(entry->name, NULL, 0);
    CUcontext context = stream_current_context();
    if (!context)
        return;
    guard_lock();
    stream_created(handle, context, blocking, site);
    guard_unlock();
}

CUresult hook_stream_create(const struct driver_entry *entry, CUstream *phStream,
                            unsigned int Flags)
{
    CUresult result = DRIVER_REAL(entry, cuStreamCreate_v2000)(phStream, Flags);
    if (result == CUDA_SUCCESS)
        created(entry, *phStream, !(Flags & CU_STREAM_NON_BLOCKING));
    return result;
}

CUresult hook_stream_create_with_priority(const struct driver_entry *entry, CUstream *phStream,
                                          unsigned int flags, int priority)
{
    CUresult result =
        DRIVER_REAL(entry, cuStreamCreateWithPriority_v5050)(phStream, flags, priority);
    if (result == CUDA_SUCCESS)
        created(entry, *phStream, !(flags & CU_STREAM_NON_BLOCKING));
    return result;
}

CUresult hook_stream_destroy(const struct driver_entry *entry, CUstream hStream)
{
    const csan_site site = callsite_of(entry->name, NULL, 0);
    guard_lock();
    struct stream *stream = stream_take_out(hStream);
    guard_unlock();
    CUresult result = DRIVER_REAL(entry, cuStreamDestroy_v4000)(hStream);
    if (stream) {
        guard_lock();
        if (result == CUDA_SUCCESS)
            stream_destroyed(stream, site);
        else
            stream_put_back(stream);
        guard_unlock();
    }
    return result;
}

/* What a wait for a stream covers, as of when it began. */
struct covered {
    csan_snapshot *snapshot; /* NULL when csan has seen nothing of the stream */
    struct stream_memop_scope scope;
};

static struct covered covered_now(CUstream handle, bool thread_default)
{
    struct covered covered = {0};
    struct stream *stream = stream_lock_known(handle, thread_default);
    if (!stream)
        return covered;
    covered.snapshot = stream_snapshot(stream);
    covered.scope = stream_memop_scope_of(stream);
    guard_unlock();
    return covered;
}

/* `waiting`: the entry of a call that waits; NULL: it asked, and another run may have another
 * answer. */
static void stream_finished(const struct covered *covered, CUresult result,
                            const struct driver_entry *waiting)
{
    if (!covered->snapshot)
        return;
    if (result == CUDA_SUCCESS) {
        guard_waited();
        stream_memop_settle(&covered->scope);
        if (waiting)
            host_wait_join(CSAN_SYNCHRONIZED_STREAM, waiting, covered->snapshot);
        else
            csan_snapshot_join(session_context(), thread_lane(), covered->snapshot);
        operator_summary_waited();
    }
    csan_snapshot_release(session_context(), covered->snapshot);
}

CUresult hook_stream_synchronize(const struct driver_entry *entry, CUstream hStream)
{
    if (sync_drops_stream(hStream, entry->thread_default))
        return CUDA_SUCCESS;
    struct covered covered = covered_now(hStream, entry->thread_default);
    CUresult result = DRIVER_REAL(entry, cuStreamSynchronize_v2000)(hStream);
    stream_finished(&covered, result, entry);
    trace_waited();
    return result;
}

CUresult hook_stream_query(const struct driver_entry *entry, CUstream hStream)
{
    struct covered covered = covered_now(hStream, entry->thread_default);
    CUresult result = DRIVER_REAL(entry, cuStreamQuery_v2000)(hStream);
    stream_finished(&covered, result, NULL);
    return result;
}

/* ---- Contexts ---- */

static void cut_now(CUcontext context, struct stream_cut *cut)
{
    guard_lock();
    stream_cut_take(context, cut);
    guard_unlock();
}

static void cut_join(const struct driver_entry *entry, CUcontext context, struct stream_cut *cut)
{
    if (!recorded_wait_wanted()) {
        stream_cut_release(cut, true);
        return;
    }
    const csan_site site = callsite_of(entry->name, NULL, 0);
    const csan_lane lane = thread_lane();
    guard_lock();
    recorded_device_host(context);
    recorded_wait_begin(CSAN_SYNCHRONIZED_DEVICE, lane, site);
    stream_cut_release(cut, true);
    recorded_wait_end(lane);
    guard_unlock();
}

static void cut_end(const struct driver_entry *entry, CUcontext context, struct stream_cut *cut,
                    CUresult result)
{
    guard_waited();
    if (result == CUDA_SUCCESS) {
        stream_memop_settle(&(struct stream_memop_scope){CSAN_NO_LANE, context, false});
        cut_join(entry, context, cut);
    } else {
        stream_cut_release(cut, false);
    }
    trace_waited();
}

CUresult hook_context_synchronize(const struct driver_entry *entry)
{
    if (sync_drops_context(NULL))
        return CUDA_SUCCESS;
    struct stream_cut cut;
    CUcontext context = stream_current_context();
    cut_now(context, &cut);
    CUresult result = DRIVER_REAL(entry, cuCtxSynchronize_v2000)();
    cut_end(entry, context, &cut, result);
    return result;
}

CUresult hook_context_synchronize_of(const struct driver_entry *entry, CUcontext ctx)
{
    if (sync_drops_context(ctx))
        return CUDA_SUCCESS;
    struct stream_cut cut;
    CUcontext context = ctx ? ctx : stream_current_context();
    cut_now(context, &cut);
    CUresult result = DRIVER_REAL(entry, cuCtxSynchronize_v13000)(ctx);
    cut_end(entry, context, &cut, result);
    return result;
}
