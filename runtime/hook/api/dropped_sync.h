/* Synchronizations of the program that a run does not make (fault injection, run/injection.h). */
#ifndef RUNTIME_HOOK_API_DROPPED_SYNC_H
#define RUNTIME_HOOK_API_DROPPED_SYNC_H

#include "runtime/hook/interpose/driver.h"

#include <stdbool.h>

/* The hook of such a call asks this before it does anything else. True: the call is the one to
 * drop. It succeeds, and neither the device nor the detector learns of it. Without the hooks' lock.
 */
struct sync_dropper {
    bool (*wait)(CUstream stream, bool thread_default, CUevent event, unsigned flags);
    bool (*event)(CUevent event);
    bool (*stream)(CUstream stream, bool thread_default);
    bool (*context)(CUcontext context);
};
/* NULL: no run asks for it. Set it before any hook is entered. */
extern const struct sync_dropper *sync_dropper;

static inline bool sync_drops_wait(CUstream stream, bool thread_default, CUevent event,
                                   unsigned flags)
{
    return __builtin_expect(sync_dropper != NULL, 0) &&
           sync_dropper->wait(stream, thread_default, event, flags);
}
static inline bool sync_drops_event(CUevent event)
{
    return __builtin_expect(sync_dropper != NULL, 0) && sync_dropper->event(event);
}
static inline bool sync_drops_stream(CUstream stream, bool thread_default)
{
    return __builtin_expect(sync_dropper != NULL, 0) &&
           sync_dropper->stream(stream, thread_default);
}
static inline bool sync_drops_context(CUcontext context)
{
    return __builtin_expect(sync_dropper != NULL, 0) && sync_dropper->context(context);
}

#endif
