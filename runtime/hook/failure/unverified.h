/* Launches that may fail and that the host has not waited for.
 *
 * Behind a wait for one of them csan asks the device whether it still works (dump.h). They are kept
 * by lane. A call that waits for one event or stream need not wait for the newest of them: the
 * order of the detector says when it has. */
#ifndef RUNTIME_HOOK_FAILURE_UNVERIFIED_H
#define RUNTIME_HOOK_FAILURE_UNVERIFIED_H

#include <csan/csan.h>
#include "csan/detector/context.h"

#include <stdbool.h>
#include <stdint.h>

/* Not 0: there are some. Atomic. The wrappers of calls that wait read it. */
extern uint32_t unverified_any;

/* Whether unverified_launched would change anything. With the hooks' lock, as that. */
bool unverified_is_news(csan_lane lane);
/* A kernel was launched on the lane, and may fail. */
void unverified_launched(csan_lane lane);

/* Call it once the host's join behind a wait is known, before the device is asked. `all`: for all
 * work of the device. Takes the hooks' lock. */
void unverified_waited(csan_context *context, bool all);

#endif
