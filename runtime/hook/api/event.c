/* The hooks of events: what records them and waits for them. */
#include "runtime/hook/state/event_table.h"
#include "runtime/hook/state/callsite.h"
#include "runtime/hook/session/guard.h"
#include "runtime/hook/api/dropped_sync.h"
#include "runtime/hook/operator/pool_query.h"
#include "runtime/hook/failure/refused_call.h"
#include "runtime/hook/state/stream.h"
#include "runtime/hook/state/thread.h"
#include "runtime/hook/observe/trace.h"
#include "runtime/hook/state/stream_memop.h"
#include "driver_hooks.h"
#include "runtime/hook/api/host_wait.h"
#include "runtime/hook/operator/operator_summary.h"
#include "runtime/hook/session/session.h"
#include "runtime/hook/session/session_options.h"
#include "runtime/hook/session/recorded_wait.h"

CUresult hook_event_create(const struct driver_entry *entry, CUevent *phEvent, unsigned int Flags)
{
    CUresult result = DRIVER_REAL(entry, cuEventCreate_v2000)(phEvent, Flags);
    if (result == CUDA_SUCCESS && guard_enter()) {
        event_created(*phEvent);
        guard_leave();
    }
    return result;
}

CUresult hook_event_destroy(const struct driver_entry *entry, CUevent hEvent)
{
    struct event *event = event_take_out(hEvent);
    CUresult result = DRIVER_REAL(entry, cuEventDestroy_v4000)(hEvent);
    event_destroyed(event, hEvent, result == CUDA_SUCCESS);
    return result;
}

static void event_recorded(const struct driver_entry *entry, CUevent handle, CUstream stream_handle,
                           unsigned flags)
{
    const bool thread_default = entry->thread_default;
    if (stream_is_capturing(stream_handle, thread_default)) {
        if (!(flags & CU_EVENT_RECORD_EXTERNAL)) /* that is a node, which records at each launch */
            event_note_captured(handle);
        return;
    }
    const csan_site site = callsite_of(entry->name, NULL, 0);
    struct stream *stream = stream_lock(stream_handle, thread_default);
    if (!stream)
        return;
    stream_use(stream);
    event_record(handle, stream_lane(stream), site);
    guard_unlock();
}

CUresult hook_event_record(const struct driver_entry *entry, CUevent hEvent, CUstream hStream)
{
    CUresult result = DRIVER_REAL(entry, cuEventRecord_v2000)(hEvent, hStream);
    if (result == CUDA_SUCCESS)
        event_recorded(entry, hEvent, hStream, 0);
    else if (refused_call_for_stream(entry, hStream, result))
        refused_call_stream(entry, hStream, callsite_of(entry->name, NULL, 0), CSAN_LEVEL_LIBRARY,
                            result);
    return result;
}

CUresult hook_event_record_with_flags(const struct driver_entry *entry, CUevent hEvent,
                                      CUstream hStream, unsigned int flags)
{
    CUresult result = DRIVER_REAL(entry, cuEventRecordWithFlags_v11010)(hEvent, hStream, flags);
    if (result == CUDA_SUCCESS)
        event_recorded(entry, hEvent, hStream, flags);
    else if (refused_call_for_stream(entry, hStream, result))
        refused_call_stream(entry, hStream, callsite_of(entry->name, NULL, 0), CSAN_LEVEL_LIBRARY,
                            result);
    return result;
}

static void stream_waits(const struct driver_entry *entry, CUstream hStream, CUevent hEvent,
                         uint64_t began)
{
    const csan_site site = callsite_of(entry->name, NULL, 0);
    struct stream *stream = stream_lock(hStream, entry->thread_default);
    if (!stream)
        return;
    stream_use(stream);
    recorded_wait_thread();
    event_waited(hEvent, stream_lane(stream), site, began);
    guard_unlock();
}

CUresult hook_stream_wait_event(const struct driver_entry *entry, CUstream hStream, CUevent hEvent,
                                unsigned int Flags)
{
    if (sync_drops_wait(hStream, entry->thread_default, hEvent, Flags))
        return CUDA_SUCCESS;
    const uint64_t began = event_wait_begins();
    CUresult result = DRIVER_REAL(entry, cuStreamWaitEvent_v3020)(hStream, hEvent, Flags);
    if (result == CUDA_SUCCESS && !stream_is_capturing(hStream, entry->thread_default))
        stream_waits(entry, hStream, hEvent, began);
    return result;
}

/* What the event holds now: NULL when it was never recorded. The caller releases it. */
static csan_snapshot *snapshot_now(CUevent handle, struct stream_memop_scope *scope)
{
    csan_lane lane;
    csan_snapshot *snapshot = event_snapshot(handle, &lane);
    *scope = (struct stream_memop_scope){.lane = lane};
    return snapshot;
}

/* The call found the event complete: what it held at the call's start is ordered before the host.
 * `waiting`: the entry of a call that waits; NULL: it asked, and another run may have another
 * answer. */
static void event_finished(csan_snapshot *snapshot, const struct stream_memop_scope *scope,
                           CUresult result, const struct driver_entry *waiting, bool polled)
{
    if (!snapshot)
        return;
    if (result == CUDA_SUCCESS) {
        guard_waited();
        stream_memop_settle(scope);
        if (polled && pool_query_is_of_memory())
            csan_snapshot_seen_by_pool(session_context(), snapshot);
        else if (waiting)
            host_wait_join(CSAN_SYNCHRONIZED_EVENT, waiting, snapshot);
        else
            csan_snapshot_join(session_context(), thread_lane(), snapshot);
        operator_summary_waited();
    }
    csan_snapshot_release(session_context(), snapshot);
}

CUresult hook_event_synchronize(const struct driver_entry *entry, CUevent hEvent)
{
    if (sync_drops_event(hEvent))
        return CUDA_SUCCESS;
    struct stream_memop_scope scope;
    csan_snapshot *snapshot = snapshot_now(hEvent, &scope);
    const uint64_t began = event_wait_begins();
    CUresult result = DRIVER_REAL(entry, cuEventSynchronize_v2000)(hEvent);
    if (result == CUDA_SUCCESS)
        event_host_waited(hEvent, thread_lane(), callsite_of(entry->name, NULL, 0));
    event_finished(snapshot, &scope, result, entry, false);
    if (result == CUDA_SUCCESS)
        event_shared_finished(hEvent, thread_lane(), began);
    trace_waited();
    return result;
}

CUresult hook_event_query(const struct driver_entry *entry, CUevent hEvent)
{
    struct stream_memop_scope scope;
    csan_snapshot *snapshot = snapshot_now(hEvent, &scope);
    const uint64_t began = event_wait_begins();
    CUresult result = DRIVER_REAL(entry, cuEventQuery_v2000)(hEvent);
    event_finished(snapshot, &scope, result, NULL, true);
    if (result == CUDA_SUCCESS)
        event_shared_finished(hEvent, thread_lane(), began);
    return result;
}

/* Succeeds only when both events are complete (CUDA Driver API, cuEventElapsedTime). */
CUresult hook_event_elapsed_time(const struct driver_entry *entry, float *pMilliseconds,
                                 CUevent hStart, CUevent hEnd)
{
    struct stream_memop_scope started, ended;
    csan_snapshot *start = snapshot_now(hStart, &started), *end = snapshot_now(hEnd, &ended);
    CUresult result = DRIVER_REAL(entry, cuEventElapsedTime_v2000)(pMilliseconds, hStart, hEnd);
    event_finished(start, &started, result, NULL, false);
    event_finished(end, &ended, result, NULL, false);
    if (result == CUDA_SUCCESS && session_all_options()->record[0])
        event_elapsed(hStart, hEnd, thread_lane(), *pMilliseconds,
                      callsite_of(entry->name, NULL, 0));
    return result;
}
