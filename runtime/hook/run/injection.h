/* Synchronizations of the program, numbered, so that one of them can be left out (fault injection:
 * options drop_sync and list_syncs; csan mutate uses both).
 *
 * Counted are stream waits for an event, and synchronize calls of events, streams and contexts,
 * from 1 in the order in which they reach csan. Not counted: a call that would fail, one under
 * stream capture (a wait forks the capture there), one made inside another driver call, queries,
 * and what copies, sets and frees wait for by themselves.
 *
 * On the embedded device only: what a program loses on a GPU is not csan's to take. */
#ifndef RUNTIME_HOOK_RUN_INJECTION_H
#define RUNTIME_HOOK_RUN_INJECTION_H

#include "runtime/hook/interpose/driver.h"

#include <stdbool.h>

/* Called by the hook of such a call before anything else is done about it. 1: the call is the one
 * to leave out; neither the device nor the detector is to hear of it, and it succeeds. Without the
 * guard's lock. */
bool injection_drops_wait(CUstream stream, bool thread_default, CUevent event, unsigned flags);
bool injection_drops_event(CUevent event);
bool injection_drops_stream(CUstream stream, bool thread_default);
bool injection_drops_context(CUcontext context);

/* At exit: say where the one left out is, or that its number was never reached. */
void injection_summarize(void);

#endif
