/* Steps that say in a recording which call made the host wait, and on which thread: csan info
 * --statistics counts waits by them. Without a recording nothing happens. */
#ifndef RUNTIME_HOOK_SESSION_RECORDED_WAIT_H
#define RUNTIME_HOOK_SESSION_RECORDED_WAIT_H

#include "runtime/hook/session/session_options.h"

#include <csan/csan.h>

static inline bool recorded_wait_wanted(void)
{
    return session_all_options()->record[0] != '\0';
}

/* With the hooks' lock, which stays until the end, so that only joins of this call lie between.
 * `kind`: enum csan_synchronization_kind, or 0: a copy or set. */
void recorded_wait_begin(int kind, csan_lane lane, csan_site site);
void recorded_wait_end(csan_lane lane);

/* With the hooks' lock, before a step: it is by the calling thread. */
void recorded_wait_thread(void);

#endif
