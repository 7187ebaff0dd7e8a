/* For option init_check: a call that csan does not follow may write to any memory, now or later. */
#ifndef RUNTIME_HOOK_INTERPOSE_DOUBT_H
#define RUNTIME_HOOK_INTERPOSE_DOUBT_H

#include "csan/detector/context.h"
#include "runtime/hook/interpose/driver.h"
#include "runtime/hook/session/session.h"

/* Asked before a kernel's op: was there such a call since the last time? */
static inline void doubt_look(void)
{
    if (__builtin_expect(__atomic_load_n(&driver_unmodelled_doubt, __ATOMIC_RELAXED), 0)) {
        __atomic_store_n(&driver_unmodelled_doubt, 0, __ATOMIC_RELAXED);
        context_doubt(session_context());
    }
}

#endif
