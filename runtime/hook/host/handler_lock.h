/* A lock for tables that signal handlers look at, too. A handler may have interrupted the thread
 * that holds it, at any instruction. The thread knows by a flag of its own that it may hold the
 * lock, from before it takes it until after it has given it back. */
#ifndef RUNTIME_HOOK_HOST_HANDLER_LOCK_H
#define RUNTIME_HOOK_HOST_HANDLER_LOCK_H

#include <sched.h>
#include <stdbool.h>
#include <stdint.h>

/* `holds` is the calling thread's. False: a signal handler interrupted the thread in between, or
 * somebody else held the lock all the time that so many looks take. */
static inline bool handler_lock_take(uint32_t *lock, bool *holds, uint32_t looks)
{
    if (*holds)
        return false;
    for (uint32_t i = 0; i < looks; i++) {
        *holds = true;
        __atomic_signal_fence(__ATOMIC_SEQ_CST);
        if (!__atomic_exchange_n(lock, 1, __ATOMIC_ACQUIRE))
            return true;
        __atomic_signal_fence(__ATOMIC_SEQ_CST);
        *holds = false;
        if (i % 64 == 63)
            sched_yield();
    }
    return false;
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
