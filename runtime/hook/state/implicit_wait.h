/* Calls that make the host wait without being synchronizations. One table says of each wait whether
 * the documentation promises it, and whether csan takes it as order (option implicit_sync;
 * docs/guide/implicit-waits.md shows the table to users). */
#ifndef RUNTIME_HOOK_STATE_IMPLICIT_WAIT_H
#define RUNTIME_HOOK_STATE_IMPLICIT_WAIT_H

#include <csan/csan.h>
#include "runtime/hook/interpose/driver.h"

#include <stdbool.h>

enum implicit_wait {
    WAIT_NONE,
    /* copies without Async: for the stream's earlier work and, but for the first kind, for
     * themselves */
    WAIT_COPY_FROM_PAGEABLE,
    WAIT_COPY_FROM_PINNED,
    WAIT_COPY_TO_HOST,
    WAIT_COPY_ON_HOST, /* with Async, too */
    WAIT_COPY_SYNC_MEMOPS,
    WAIT_COPY_BETWEEN_PEERS, /* among streams; the host does not wait */
    WAIT_COPY_STAGED_WHOLE,  /* from pageable memory, for itself */
    WAIT_COPY_ASYNC_TO_PAGEABLE,
    WAIT_COPY_ASYNC_FROM_PAGEABLE, /* in pieces */
    WAIT_SET_AT_HOST,
    WAIT_SET_SYNC_MEMOPS,
    WAIT_FREE,
    WAIT_FREE_HOST,
    WAIT_FREE_ARRAY,
    WAIT_UNREGISTER,
    WAIT_REGISTER,
    WAIT_MODULE_LOAD,
    WAIT_MODULE_UNLOAD,
    WAIT_CONTEXT_END,
    WAIT_COUNT
};

/* Which part of it csan takes as order. Any thread. */
bool implicit_wait_orders(enum implicit_wait wait);

/* In the call, the calling thread waited for all that the snapshot covers, or that `lane` did so
 * far (CSAN_NO_LANE: every lane). It is ordered after that, or a report says what was seen. Nothing
 * happens for WAIT_NONE and NULL. `entry` NULL: a wait that is always order. `site`: the call's,
 * for recordings, from copies and sets, which hold the hooks' lock; 0: the recording says nothing.
 */
void implicit_wait_for(enum implicit_wait wait, const struct driver_entry *entry, csan_site site,
                       const csan_snapshot *snapshot);
void implicit_wait_for_lane(enum implicit_wait wait, const struct driver_entry *entry,
                            csan_site site, csan_lane lane);
/* Call it before a check as if the wait were no order. Sets what a report will say of it. */
void implicit_wait_note(enum implicit_wait wait, const struct driver_entry *entry,
                        const csan_snapshot *snapshot);

#endif
