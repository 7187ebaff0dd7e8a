/* What each thread knows of its own place in csan, and the lock of the hooks' tables.
 *
 * depth: csan's own calls of the driver, and calls that the driver makes on itself, also arrive at
 * the hooks. Only the outermost call is recorded. If a signal handler calls the driver while its
 * thread is inside csan's tables, that call passes through in the same way, and is counted. */
#ifndef RUNTIME_HOOK_SESSION_GUARD_H
#define RUNTIME_HOOK_SESSION_GUARD_H

#include "runtime/hook/session/deferred.h"
#include "runtime/hook/session/session.h"
#include "csan/base/lock_order.h"

#include <pthread.h>

struct guard_thread {
    uint32_t depth;  /* hooks entered and not left */
    uint32_t locked; /* locks held by this thread under which csan calls the detector */
    bool hosted; /* the driver called this thread, which must not call the driver: it runs a host
                    function */
};

/* Initial-exec: libcsan is linked or preloaded, so the access is one instruction and allocates
 * nothing. */
extern __thread struct guard_thread guard_self __attribute__((tls_model("initial-exec")));

/* Out of line: csan is not decided yet, or is off, or the thread is inside it already. */
bool guard_enter_slow(void);

/* As guard_enter, for calls that may themselves be deferred: it does not flush earlier deferred
 * work. */
static inline bool guard_enter_without_flush(void)
{
    if (__builtin_expect(session_state != SESSION_ON || guard_self.depth != 0, 0))
        return guard_enter_slow();
    guard_self.depth = 1;
    return true;
}

/* 1: record this call, and call guard_leave when done. 0: pass it through. Call it without locks.
 */
static inline bool guard_enter(void)
{
    if (!guard_enter_without_flush())
        return false;
    deferred_flush();
    return true;
}

/* The same for a call that is no use of CUDA. A process that made only such calls can fork and
 * still be checked. */
bool guard_enter_aside(void);

/* A call that shows that the process uses CUDA, and that has no hook. */
void guard_use_begins(void);

/* The driver's call is over, and the host may have waited in it. Flushes what other threads
 * launched and deferred meanwhile, which comes before the host's new knowledge. Call it before the
 * host's join, without locks of hooks. */
static inline void guard_waited(void)
{
    deferred_flush();
}

static inline void guard_leave(void)
{
    guard_self.depth = 0;
}

/* The hooks' lock. It guards the tables of streams, events, graphs and functions. It is held while
 * an op and the joins before it are enqueued in the detector, never while the driver runs. */
void guard_lock(void);
void guard_unlock(void);

/* In a forked child that starts anew: makes the lock free, since a thread that does not exist here
 * may have held it. */
void guard_forked(void);

/* The same for another lock of that kind, under which csan also calls the detector. */
void guard_lock_object(enum lock_kind kind, pthread_mutex_t *mutex);
void guard_unlock_object(enum lock_kind kind, pthread_mutex_t *mutex);

/* Counts calls that passed through because a signal arrived inside csan. */
uint64_t guard_interrupted(void);

#endif
