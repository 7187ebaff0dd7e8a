/* The table of CUDA events: which of the detector's events a handle names. */
#ifndef RUNTIME_HOOK_STATE_EVENT_TABLE_H
#define RUNTIME_HOOK_STATE_EVENT_TABLE_H

#include <csan/csan.h>
#include "runtime/hook/interpose/driver.h"

/* The event of that handle, made when it has none yet. NULL when memory is short. Wants the guard's
 * lock, and is valid while it is held. */
csan_event *event_of(CUevent handle);

/* The program calls the event so from now on; "" is no name. Without the lock. */
void event_named(CUevent handle, const char *name);

/* A new event was given that handle. Without the lock. */
void event_created(CUevent handle);
/* Around the call that destroys it, since the handle may be given out again within the call: what
 * was taken out, or NULL; it is put back unless it is `gone`. Without the lock. */
struct event;
struct event *event_take_out(CUevent handle);
void event_destroyed(struct event *event, CUevent handle, bool gone);

/* It is recorded on that lane, by a call of that site. Wants the lock. */
void event_record(CUevent handle, csan_lane lane, csan_site site);
void event_record_snapshot(CUevent handle, const csan_snapshot *snapshot, csan_site site);

/* The lane waits for it, by a call of that site. Wants the lock. */
void event_waited(CUevent handle, csan_lane lane, csan_site site);

/* The event, if it was ever recorded, else NULL: a wait for it is no order. Wants the lock. */
csan_event *event_recorded_of(CUevent handle);

/* What the event holds now: NULL when it was never recorded. The caller releases it. `lane`: of its
 * last record; CSAN_HOST: none that may still wait for a value. Without the lock. */
csan_snapshot *event_snapshot(CUevent handle, csan_lane *lane);

/* 1 when it was last recorded in a captured stream: a wait for it captures the waiting stream, too.
 * Without the lock. */
bool event_is_captured(CUevent handle);
/* It was recorded there. Without the lock. */
void event_note_captured(CUevent handle);

#endif
