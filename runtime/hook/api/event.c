/* CUDA events: the hooks of their calls, and the table from handles to the detector's events.
 *
 * An event is put into the table by its first record: a wait on one that was never recorded is no
 * order (CUDA Driver API, cuStreamWaitEvent). Handles are reused, so destroying takes it out. */
#include "runtime/hook/api/event.h"
#include "runtime/hook/state/callsite.h"
#include "runtime/hook/session/guard.h"
#include "runtime/hook/state/handle_table.h"
#include "runtime/hook/run/injection.h"
#include "runtime/hook/operator/pool_query.h"
#include "runtime/hook/failure/refused_call.h"
#include "runtime/hook/state/stream.h"
#include "runtime/hook/state/thread.h"
#include "runtime/hook/observe/trace.h"
#include "runtime/hook/api/stream_memop.h"
#include "driver_hooks.h"
#include "runtime/hook/session/session.h"

#include <stdlib.h>

struct event {
    CUevent handle;
    csan_event *event;
    uint64_t serial; /* tells it from others that bear the handle before and after it */
    bool captured;   /* last recorded in a captured stream */
    csan_lane lane;  /* of its last record; CSAN_HOST: none that may still wait for a value */
    UT_hash_handle hh;
};

/* An event that the program named, whether it was recorded or not. */
struct event_name {
    CUevent handle;
    csan_site name; /* that bears it */
    UT_hash_handle hh;
};

static struct {
    struct event *events;
    struct event_name *names;
    uint64_t serial;
} table;

static struct event *event_find(CUevent handle)
{
    struct event *event = NULL;
    HASH_FIND_PTR(table.events, &handle, event);
    return event;
}

/* The one of the handle, made when there is none yet. */
static struct event *event_get(CUevent handle)
{
    struct event *event = event_find(handle);
    if (event)
        return event;
    event = calloc(1, sizeof *event);
    if (!event)
        return NULL;
    event->handle = handle;
    event->serial = ++table.serial;
    event->event = csan_event_create(session_context());
    if (!event->event) {
        free(event);
        return NULL;
    }
    HASH_ADD_PTR(table.events, handle, event);
    return event;
}

csan_event *event_of(CUevent handle)
{
    const struct event *event = event_get(handle);
    return event ? event->event : NULL;
}

csan_event *event_recorded_of(CUevent handle)
{
    struct event *event = event_find(handle);
    return event ? event->event : NULL;
}

static struct event *event_take_out(CUevent handle)
{
    struct event *event = event_find(handle);
    if (event)
        HASH_DEL(table.events, event);
    return event;
}

static void event_drop(struct event *event)
{
    if (!event)
        return;
    csan_step(session_context(), CSAN_HOST, CSAN_STEP_EVENT_DESTROYED, event->serial, 0, 0);
    csan_event_destroy(session_context(), event->event);
    free(event);
}

/* ---- Names ---- */

static csan_site name_of(CUevent handle)
{
    struct event_name *found = NULL;
    if (table.names)
        HASH_FIND_PTR(table.names, &handle, found);
    return found ? found->name : 0;
}

static void name_drop(CUevent handle)
{
    struct event_name *found = NULL;
    if (table.names)
        HASH_FIND_PTR(table.names, &handle, found);
    if (found)
        HASH_DEL(table.names, found);
    free(found);
}

void event_named(CUevent handle, const char *name)
{
    struct event_name *named = name[0] ? calloc(1, sizeof *named) : NULL;
    const csan_site site = named ? csan_site_intern(session_context(), name, NULL, 0, NULL, 0) : 0;
    guard_lock();
    name_drop(handle);
    if (named) {
        *named = (struct event_name){.handle = handle, .name = site};
        HASH_ADD_PTR(table.names, handle, named);
    }
    guard_unlock();
}

void event_created(CUevent handle)
{
    guard_lock();
    event_drop(event_take_out(handle)); /* one whose end was not seen */
    name_drop(handle);
    guard_unlock();
}

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
    if (!guard_enter())
        return DRIVER_REAL(entry, cuEventDestroy_v4000)(hEvent);
    guard_lock();
    struct event *event = event_take_out(hEvent);
    guard_unlock();
    CUresult result = DRIVER_REAL(entry, cuEventDestroy_v4000)(hEvent);
    guard_lock();
    if (event && result != CUDA_SUCCESS)
        HASH_ADD_PTR(table.events, handle, event);
    else
        event_drop(event);
    if (result == CUDA_SUCCESS)
        name_drop(hEvent);
    guard_unlock();
    guard_leave();
    return result;
}

/* For reports. */
static void event_step(CUevent handle, const struct event *event, csan_lane lane,
                       enum csan_step_kind kind, csan_site site)
{
    csan_step(session_context(), lane, kind, event ? event->serial : 0, name_of(handle), site);
}

static struct event *event_to_record(CUevent handle, csan_lane lane)
{
    struct event *event = event_get(handle);
    if (!event)
        return NULL;
    event->lane = lane;
    event->captured = false;
    return event;
}

void event_record_snapshot(CUevent handle, const csan_snapshot *snapshot, csan_site site)
{
    const struct event *event = event_to_record(handle, CSAN_HOST);
    if (!event)
        return;
    csan_event_record_snapshot(session_context(), event->event, snapshot);
    event_step(handle, event, CSAN_HOST, CSAN_STEP_RECORD, site);
}

void event_record(CUevent handle, csan_lane lane, csan_site site)
{
    const struct event *event = event_to_record(handle, lane);
    if (!event)
        return;
    csan_event_record(session_context(), event->event, lane);
    event_step(handle, event, lane, CSAN_STEP_RECORD, site);
}

void event_waited(CUevent handle, csan_lane lane, csan_site site)
{
    const struct event *event = event_find(handle);
    event_step(handle, event, lane, event ? CSAN_STEP_WAIT : CSAN_STEP_WAIT_UNRECORDED, site);
    if (event)
        csan_event_wait(session_context(), event->event, lane);
}

bool event_is_captured(CUevent handle)
{
    guard_lock();
    struct event *event = event_find(handle);
    bool captured = event && event->captured;
    guard_unlock();
    return captured;
}

/* In a captured stream it stands for nodes of the graph. What it held before is over: the driver
 * refuses whoever waits for it outside. */
void event_note_captured(CUevent handle)
{
    guard_lock();
    struct event *event = event_get(handle);
    if (event)
        event->captured = true;
    guard_unlock();
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
    if (!guard_enter())
        return DRIVER_REAL(entry, cuEventRecord_v2000)(hEvent, hStream);
    CUresult result = DRIVER_REAL(entry, cuEventRecord_v2000)(hEvent, hStream);
    if (result == CUDA_SUCCESS)
        event_recorded(entry, hEvent, hStream, 0);
    else if (refused_call_for_stream(entry, hStream, result))
        refused_call_stream(entry, hStream, callsite_of(entry->name, NULL, 0), CSAN_LEVEL_LIBRARY,
                            result);
    guard_leave();
    return result;
}

CUresult hook_event_record_with_flags(const struct driver_entry *entry, CUevent hEvent,
                                      CUstream hStream, unsigned int flags)
{
    if (!guard_enter())
        return DRIVER_REAL(entry, cuEventRecordWithFlags_v11010)(hEvent, hStream, flags);
    CUresult result = DRIVER_REAL(entry, cuEventRecordWithFlags_v11010)(hEvent, hStream, flags);
    if (result == CUDA_SUCCESS)
        event_recorded(entry, hEvent, hStream, flags);
    else if (refused_call_for_stream(entry, hStream, result))
        refused_call_stream(entry, hStream, callsite_of(entry->name, NULL, 0), CSAN_LEVEL_LIBRARY,
                            result);
    guard_leave();
    return result;
}

static void stream_waits(const struct driver_entry *entry, CUstream hStream, CUevent hEvent)
{
    const csan_site site = callsite_of(entry->name, NULL, 0);
    struct stream *stream = stream_lock(hStream, entry->thread_default);
    if (!stream)
        return;
    stream_use(stream);
    event_waited(hEvent, stream_lane(stream), site);
    guard_unlock();
}

CUresult hook_stream_wait_event(const struct driver_entry *entry, CUstream hStream, CUevent hEvent,
                                unsigned int Flags)
{
    if (!guard_enter())
        return DRIVER_REAL(entry, cuStreamWaitEvent_v3020)(hStream, hEvent, Flags);
    if (injection_drops_wait(hStream, entry->thread_default, hEvent, Flags)) {
        guard_leave();
        return CUDA_SUCCESS;
    }
    CUresult result = DRIVER_REAL(entry, cuStreamWaitEvent_v3020)(hStream, hEvent, Flags);
    if (result == CUDA_SUCCESS && !stream_is_capturing(hStream, entry->thread_default))
        stream_waits(entry, hStream, hEvent);
    guard_leave();
    return result;
}

/* What the event holds now: NULL when it was never recorded. The caller releases it. */
static csan_snapshot *snapshot_now(CUevent handle, struct stream_memop_scope *scope)
{
    guard_lock();
    struct event *event = event_find(handle);
    csan_snapshot *snapshot = event ? csan_event_snapshot(session_context(), event->event) : NULL;
    *scope = (struct stream_memop_scope){.lane = event ? event->lane : CSAN_HOST};
    guard_unlock();
    return snapshot;
}

/* The call found the event complete: what it held at the call's start is ordered before the host.
 */
static void event_finished(csan_snapshot *snapshot, const struct stream_memop_scope *scope,
                           CUresult result, bool polled)
{
    if (!snapshot)
        return;
    if (result == CUDA_SUCCESS) {
        guard_waited();
        stream_memop_settle(scope);
        if (polled && pool_query_is_of_memory())
            csan_snapshot_seen_by_pool(session_context(), snapshot);
        else
            csan_snapshot_join(session_context(), thread_lane(), snapshot);
    }
    csan_snapshot_release(session_context(), snapshot);
}

CUresult hook_event_synchronize(const struct driver_entry *entry, CUevent hEvent)
{
    if (!guard_enter())
        return DRIVER_REAL(entry, cuEventSynchronize_v2000)(hEvent);
    if (injection_drops_event(hEvent)) {
        guard_leave();
        return CUDA_SUCCESS;
    }
    struct stream_memop_scope scope;
    csan_snapshot *snapshot = snapshot_now(hEvent, &scope);
    CUresult result = DRIVER_REAL(entry, cuEventSynchronize_v2000)(hEvent);
    event_finished(snapshot, &scope, result, false);
    trace_waited();
    guard_leave();
    return result;
}

CUresult hook_event_query(const struct driver_entry *entry, CUevent hEvent)
{
    if (!guard_enter())
        return DRIVER_REAL(entry, cuEventQuery_v2000)(hEvent);
    struct stream_memop_scope scope;
    csan_snapshot *snapshot = snapshot_now(hEvent, &scope);
    CUresult result = DRIVER_REAL(entry, cuEventQuery_v2000)(hEvent);
    event_finished(snapshot, &scope, result, true);
    guard_leave();
    return result;
}

/* Succeeds only when both events are complete (CUDA Driver API, cuEventElapsedTime). */
CUresult hook_event_elapsed_time(const struct driver_entry *entry, float *pMilliseconds,
                                 CUevent hStart, CUevent hEnd)
{
    if (!guard_enter())
        return DRIVER_REAL(entry, cuEventElapsedTime_v2000)(pMilliseconds, hStart, hEnd);
    struct stream_memop_scope started, ended;
    csan_snapshot *start = snapshot_now(hStart, &started), *end = snapshot_now(hEnd, &ended);
    CUresult result = DRIVER_REAL(entry, cuEventElapsedTime_v2000)(pMilliseconds, hStart, hEnd);
    event_finished(start, &started, result, false);
    event_finished(end, &ended, result, false);
    guard_leave();
    return result;
}
