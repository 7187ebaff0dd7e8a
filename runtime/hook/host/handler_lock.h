/* A lock for tables that signal handlers look at, too. A handler may have interrupted the thread
 * that holds it, at any instruction. The thread knows by a flag of its own that it may hold the
 * lock, from before it takes it until after it has given it back. */
#ifndef RUNTIME_HOOK_HOST_HANDLER_LOCK_H
#define RUNTIME_HOOK_HOST_HANDLER_LOCK_H

#include "csan/base/now.h"

#include <sched.h>
#include <stdbool.h>
#include <stdint.h>

/* `holds` is the calling thread's. False: a signal handler interrupted the thread in between, or
 * somebody else held the lock for so many seconds. On a busy machine the owner may not run for
 * long.
 */
static inline bool handler_lock_take(uint32_t *lock, bool *holds, uint32_t seconds)
{
    enum { LOOKS = 64 };
    uint64_t began = 0;
    if (*holds)
        return false;
    for (uint32_t i = 1;; i++) {
        *holds = true;
        __atomic_signal_fence(__ATOMIC_SEQ_CST);
        if (!__atomic_exchange_n(lock, 1, __ATOMIC_ACQUIRE))
            return true;
        __atomic_signal_fence(__ATOMIC_SEQ_CST);
        *holds = false;
        if (i % LOOKS)
            continue;
        sched_yield();
        const uint64_t now = now_of(CLOCK_MONOTONIC);
        began = began ? began : now;
        if (now - began > seconds * UINT64_C(1000000000))
            return false;
    }
}

static inline void handler_lock_give(uint32_t *lock, bool *holds)
{
    __atomic_store_n(lock, 0, __ATOMIC_RELEASE);
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    *holds = false;
}

/* In a forked child: its owner may be a thread that is not here. */
static inline void handler_lock_forked(uint32_t *lock, bool *holds)
{
    *holds = false;
    *lock = 0;
}

#endif
