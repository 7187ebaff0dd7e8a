/* The table from handles to the detector's events.
 *
 * An event's first record adds it: a wait on an event that was never recorded is no order (CUDA
 * Driver API, cuStreamWaitEvent). Handles are reused, so destroying an event removes it.
 *
 * Events that processes share: what others record is not seen here. A wait for one may be a wait
 * for another process that has waited for what this one recorded before. So it is ordered after all
 * records of shared events that this process made: else work that is ordered by way of the other
 * process would be reported. */
#include "runtime/hook/state/event_table.h"
#include "runtime/hook/session/guard.h"
#include "runtime/hook/session/session.h"
#include "runtime/hook/state/handle_table.h"
#include "runtime/hook/state/process_link.h"

#include <stdlib.h>

struct event {
    CUevent handle;
    csan_event *event;
    uint64_t serial; /* distinguishes it from others with the same handle before and after it */
    bool captured;   /* last recorded in a captured stream */
    csan_lane lane;  /* of its last record; CSAN_HOST: none that may still wait for a value */
    uint64_t key;    /* of its handle for other processes; 0: it has none */
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
    csan_lane shared; /* knows all records of shared events, */
    bool has_shared;  /* if there ever was one; atomic */
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

static struct event *take_out(CUevent handle)
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
    event_drop(take_out(handle)); /* one whose end was not seen */
    name_drop(handle);
    guard_unlock();
}

struct event *event_take_out(CUevent handle)
{
    guard_lock();
    struct event *event = take_out(handle);
    guard_unlock();
    return event;
}

void event_destroyed(struct event *event, CUevent handle, bool gone)
{
    guard_lock();
    if (event && !gone)
        HASH_ADD_PTR(table.events, handle, event);
    else
        event_drop(event);
    if (gone)
        name_drop(handle);
    guard_unlock();
}

/* ---- Events that processes share ---- */

/* It was recorded before it got its handle, as PyTorch does. A lane stands for what it holds. */
static void shared_recorded_before(const struct event *event)
{
    csan_context *context = session_context();
    csan_snapshot *snapshot = csan_event_snapshot(context, event->event);
    if (!snapshot)
        return;
    const csan_lane lane =
        csan_lane_create_as(context, CSAN_LANE_CALL, 0, "the record of a shared event", CSAN_HOST);
    if (lane != CSAN_NO_LANE) {
        csan_snapshot_join(context, lane, snapshot);
        csan_lane_waits(context, table.shared, lane);
        process_link_lane(lane, &(struct csan_link){.kind = CSAN_LINK_RECORD, .key = event->key});
        csan_lane_destroy(context, lane);
    }
    csan_snapshot_release(context, snapshot);
}

void event_shared(CUevent handle, uint64_t key)
{
    guard_lock();
    struct event *event = event_get(handle);
    const bool was_shared = event && event->key;
    if (event)
        event->key = key;
    if (event && !table.has_shared) {
        table.shared = csan_lane_create(session_context(), 0, "records of shared events");
        __atomic_store_n(&table.has_shared, table.shared != CSAN_NO_LANE, __ATOMIC_RELEASE);
    }
    if (event && !was_shared && table.has_shared)
        shared_recorded_before(event);
    guard_unlock();
}

uint64_t event_wait_begins(void)
{
    return __atomic_load_n(&table.has_shared, __ATOMIC_ACQUIRE) ? process_link_now() : 0;
}

static void shared_recorded(const struct event *event, csan_lane lane)
{
    if (!event->key || !table.has_shared)
        return;
    csan_lane_waits(session_context(), table.shared, lane);
    process_link_lane(lane, &(struct csan_link){.kind = CSAN_LINK_RECORD, .key = event->key});
}

static void shared_waited(const struct event *event, csan_lane lane, uint64_t began)
{
    if (!event->key || !table.has_shared)
        return;
    process_link_lane(
        lane, &(struct csan_link){.kind = CSAN_LINK_WAIT, .key = event->key, .time = began});
    csan_lane_waits(session_context(), lane, table.shared);
}

void event_shared_finished(CUevent handle, csan_lane lane, uint64_t began)
{
    if (!began)
        return;
    guard_lock();
    const struct event *event = event_find(handle);
    if (event)
        shared_waited(event, lane, began);
    guard_unlock();
}

/* ---- Records and waits ---- */

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
    shared_recorded(event, lane);
}

void event_host_waited(CUevent handle, csan_lane lane, csan_site site)
{
    guard_lock();
    const struct event *event = event_find(handle);
    event_step(handle, event, lane, event ? CSAN_STEP_WAIT : CSAN_STEP_WAIT_UNRECORDED, site);
    guard_unlock();
}

void event_waited(CUevent handle, csan_lane lane, csan_site site, uint64_t began)
{
    const struct event *event = event_find(handle);
    event_step(handle, event, lane, event ? CSAN_STEP_WAIT : CSAN_STEP_WAIT_UNRECORDED, site);
    if (event) {
        csan_event_wait(session_context(), event->event, lane);
        shared_waited(event, lane, began);
    }
}

void event_elapsed(CUevent start, CUevent end, csan_lane lane, float milliseconds, csan_site site)
{
    guard_lock();
    const struct event *from = event_find(start), *to = event_find(end);
    if (from && to && milliseconds >= 0) { /* a float has no more than microseconds of a minute */
        csan_step(session_context(), lane, CSAN_STEP_ELAPSED_FROM, from->serial, 0, site);
        csan_step(session_context(), lane, CSAN_STEP_ELAPSED, to->serial,
                  (uint64_t)((double)milliseconds * 1e6), site);
    }
    guard_unlock();
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

csan_snapshot *event_snapshot(CUevent handle, csan_lane *lane)
{
    guard_lock();
    struct event *event = event_find(handle);
    csan_snapshot *snapshot = event ? csan_event_snapshot(session_context(), event->event) : NULL;
    *lane = event ? event->lane : CSAN_HOST;
    guard_unlock();
    return snapshot;
}
