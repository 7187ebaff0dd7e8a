/* A call of the program that made the calling thread wait. */
#ifndef RUNTIME_HOOK_API_HOST_WAIT_H
#define RUNTIME_HOOK_API_HOST_WAIT_H

#include "runtime/hook/interpose/driver.h"
#include "runtime/hook/session/guard.h"
#include "runtime/hook/session/recorded_device.h"
#include "runtime/hook/session/recorded_wait.h"
#include "runtime/hook/session/session.h"
#include "runtime/hook/state/callsite.h"
#include "runtime/hook/state/stream.h"
#include "runtime/hook/state/thread.h"

#include <csan/csan.h>

/* What the snapshot holds is over for the calling thread; a recording says by which call. Without
 * the hooks' lock. `kind`: enum csan_synchronization_kind. */
static inline void host_wait_join(int kind, const struct driver_entry *entry,
                                  const csan_snapshot *snapshot)
{
    const csan_lane lane = thread_lane();
    if (!recorded_wait_wanted()) {
        csan_snapshot_join(session_context(), lane, snapshot);
        return;
    }
    const csan_site site = callsite_of(entry->name, NULL, 0);
    const CUcontext context = stream_current_context();
    guard_lock();
    recorded_device_host(context);
    recorded_wait_begin(kind, lane, site);
    csan_snapshot_join(session_context(), lane, snapshot);
    recorded_wait_end(lane);
    guard_unlock();
}

#endif
