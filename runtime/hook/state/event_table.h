/* The table of CUDA events: which of the detector's events a handle names. */
#ifndef RUNTIME_HOOK_STATE_EVENT_TABLE_H
#define RUNTIME_HOOK_STATE_EVENT_TABLE_H

#include <csan/csan.h>
#include "runtime/hook/interpose/driver.h"

/* The event of that handle; one is made if there is none yet. NULL when memory is short. Call it
 * with the hooks' lock; the result is valid while that is held. */
csan_event *event_of(CUevent handle);

/* The program names the event; "" is no name. Without the lock. */
void event_named(CUevent handle, const char *name);

/* A new event was given that handle. Without the lock. */
void event_created(CUevent handle);
/* Call these around the call that destroys it, since the handle may be given out again within that
 * call. The first returns what was taken out, or NULL. The second puts it back unless it is `gone`.
 * Without the lock. */
struct event;
struct event *event_take_out(CUevent handle);
void event_destroyed(struct event *event, CUevent handle, bool gone);

/* Other processes have the event, too, by a handle of that key (process_link_key). Without the
 * lock. */
void event_shared(CUevent handle, uint64_t key);
/* When a call begins that waits for an event, which other processes may have recorded: pass it to
 * event_waited. 0 where no event is shared. */
uint64_t event_wait_begins(void);

/* The event is recorded on that lane, by a call of that site. With the lock. */
void event_record(CUevent handle, csan_lane lane, csan_site site);
void event_record_snapshot(CUevent handle, const csan_snapshot *snapshot, csan_site site);

/* The lane waits for the event, by a call of that site. With the lock. */
void event_waited(CUevent handle, csan_lane lane, csan_site site, uint64_t began);
/* The host has waited for the event, by a call of that site: for reports. What orders is the
 * caller's join. Without the lock. */
void event_host_waited(CUevent handle, csan_lane lane, csan_site site);
/* The host has seen that an event is complete which processes share: its lane waited. Without the
 * lock. */
void event_shared_finished(CUevent handle, csan_lane lane, uint64_t began);

/* The program asked how much of the device's time passed between the records of two events. For
 * recordings. Without the lock. */
void event_elapsed(CUevent start, CUevent end, csan_lane lane, float milliseconds, csan_site site);

/* The event, if it was ever recorded. Else NULL: a wait for it is no order. With the lock. */
csan_event *event_recorded_of(CUevent handle);

/* What the event holds now; NULL when it was never recorded. The caller releases it. `lane` is that
 * of its last record; CSAN_HOST if that can no longer wait for a value. Without the lock. */
csan_snapshot *event_snapshot(CUevent handle, csan_lane *lane);

/* 1 if it was last recorded in a captured stream. A wait for it then captures the waiting stream,
 * too. Without the lock. */
bool event_is_captured(CUevent handle);
/* It was recorded there. Without the lock. */
void event_note_captured(CUevent handle);

#endif
