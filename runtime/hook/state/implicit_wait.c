/* See implicit_wait.h. A rule is a line of the table. What is promised is from the CUDA Driver API,
 * "API synchronization behavior", which also says: "Any CUDA API call may block or synchronize for
 * various reasons such as contention for or unavailability of internal resources. Such behavior is
 * subject to change and undocumented behavior should not be relied upon." What was observed is in
 * tests/litmus/TABLE.md. */
#include "runtime/hook/state/implicit_wait.h"
#include "csan/detector/detect.h"
#include "runtime/hook/session/recorded_wait.h"
#include "runtime/hook/session/session.h"
#include "runtime/hook/session/session_options.h"
#include "runtime/hook/state/thread.h"

/* OBSERVED waits are order by default where programs count on them, else a note in reports. */
enum status { PROMISED, OBSERVED, OBSERVED_NOTE };

static const struct rule {
    enum status status;
    bool is_copy;          /* or set: with implicit_sync=none all are taken as asynchronous */
    const char *with_none; /* how a report calls a promised one that was left out */
} table[WAIT_COUNT] = {
    [WAIT_COPY_FROM_PAGEABLE] = {PROMISED, true, "a copy from pageable memory" DETECTOR_DOCUMENTED},
    [WAIT_COPY_FROM_PINNED] = {PROMISED, true, "a copy from pinned memory" DETECTOR_DOCUMENTED},
    [WAIT_COPY_TO_HOST] = {PROMISED, true, "a copy to the host" DETECTOR_DOCUMENTED},
    [WAIT_COPY_ON_HOST] = {PROMISED, true, "a copy from host to host" DETECTOR_DOCUMENTED},
    [WAIT_COPY_SYNC_MEMOPS] = {PROMISED, true, "a copy with SYNC_MEMOPS" DETECTOR_DOCUMENTED},
    [WAIT_COPY_BETWEEN_PEERS] = {PROMISED, true, "a copy between peers" DETECTOR_DOCUMENTED},
    [WAIT_COPY_STAGED_WHOLE] = {OBSERVED_NOTE, true, NULL},
    [WAIT_COPY_ASYNC_TO_PAGEABLE] = {OBSERVED_NOTE, true, NULL},
    [WAIT_COPY_ASYNC_FROM_PAGEABLE] = {OBSERVED_NOTE, true, NULL},
    [WAIT_SET_AT_HOST] = {PROMISED, true, "a set of pinned or managed memory" DETECTOR_DOCUMENTED},
    [WAIT_SET_SYNC_MEMOPS] = {PROMISED, true, "a set with SYNC_MEMOPS" DETECTOR_DOCUMENTED},
    [WAIT_FREE] = {OBSERVED, false, NULL},
    [WAIT_FREE_HOST] = {OBSERVED, false, NULL},
    [WAIT_FREE_ARRAY] = {OBSERVED, false, NULL},
    [WAIT_UNREGISTER] = {OBSERVED, false, NULL},
    [WAIT_REGISTER] = {OBSERVED_NOTE, false, NULL},
    [WAIT_MODULE_LOAD] = {OBSERVED_NOTE, false, NULL},
    [WAIT_MODULE_UNLOAD] = {OBSERVED_NOTE, false, NULL},
    [WAIT_CONTEXT_END] = {PROMISED, false, NULL}, /* its work ends with it */
};

bool implicit_wait_orders(enum implicit_wait wait)
{
    const struct rule *rule = &table[wait];
    const uint8_t chosen = session_options()->implicit_sync;
    if (rule->status == PROMISED)
        return wait != WAIT_NONE && !(rule->is_copy && chosen == IMPLICIT_NONE);
    return rule->status == OBSERVED && chosen == IMPLICIT_OBSERVED;
}

static const char *words(enum implicit_wait wait, const struct driver_entry *entry)
{
    return table[wait].status == PROMISED ? table[wait].with_none : entry->name;
}

void implicit_wait_note(enum implicit_wait wait, const struct driver_entry *entry,
                        const csan_snapshot *snapshot)
{
    if (wait != WAIT_NONE && snapshot)
        csan_snapshot_observed_wait(session_context(), snapshot, words(wait, entry));
}

/* Whether programs may count on the wait, and a recording is to say so. */
static bool recorded(enum implicit_wait wait, csan_site site)
{
    return site && table[wait].status == PROMISED && table[wait].is_copy && recorded_wait_wanted();
}

void implicit_wait_for(enum implicit_wait wait, const struct driver_entry *entry, csan_site site,
                       const csan_snapshot *snapshot)
{
    if (wait == WAIT_NONE || !snapshot)
        return;
    if (implicit_wait_orders(wait)) {
        const csan_lane host = thread_lane();
        if (recorded(wait, site))
            recorded_wait_begin(0, host, site);
        csan_snapshot_join(session_context(), host, snapshot);
        if (recorded(wait, site))
            recorded_wait_end(host);
    } else {
        implicit_wait_note(wait, entry, snapshot);
    }
}

void implicit_wait_for_lane(enum implicit_wait wait, const struct driver_entry *entry,
                            csan_site site, csan_lane lane)
{
    csan_context *detector = session_context();
    if (wait == WAIT_NONE)
        return;
    if (!implicit_wait_orders(wait)) {
        csan_lane_observed_wait(detector, lane, words(wait, entry));
        return;
    }
    if (lane != CSAN_NO_LANE) {
        const csan_lane host = thread_lane();
        if (recorded(wait, site))
            recorded_wait_begin(0, host, site);
        csan_lane_waits(detector, host, lane);
        if (recorded(wait, site))
            recorded_wait_end(host);
        return;
    }
    csan_snapshot *all = csan_snapshot_take_all(detector);
    csan_snapshot_join(detector, thread_lane(), all);
    if (all)
        csan_snapshot_release(detector, all);
}
