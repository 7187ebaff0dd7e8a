/* Entering and leaving the hooks. See guard.h. */
#include "runtime/hook/session/guard.h"
#include "runtime/hook/session/session.h"

#include <pthread.h>

__thread struct guard_thread guard_self __attribute__((tls_model("initial-exec")));

static struct {
    pthread_mutex_t mutex;
    uint64_t interrupted;
} guard = {.mutex = PTHREAD_MUTEX_INITIALIZER};

bool guard_enter_slow(void)
{
    if (guard_self.depth) {
        if (guard_self.locked)
            __atomic_fetch_add(&guard.interrupted, 1, __ATOMIC_RELAXED);
        return false;
    }
    if (!session_start()) {
        session_forked_call();
        return false;
    }
    session_begin();
    guard_self.depth = 1;
    return true;
}

bool guard_enter_aside(void)
{
    if (!session_start())
        return false; /* and a child that was forked too late has nothing to say of it */
    if (__atomic_load_n(&session_state, __ATOMIC_ACQUIRE) == SESSION_ON)
        return guard_enter();
    if (guard_self.depth)
        return false;
    guard_self.depth = 1;
    return true;
}

void guard_use_begins(void)
{
    if (guard_self.depth)
        return;
    if (session_start())
        session_begin();
    else
        session_forked_call();
}

/* Counted before the lock is taken and after it is given back: a signal in between finds one too
 * many, never one too few. */
void guard_lock_object(enum lock_kind kind, pthread_mutex_t *mutex)
{
    guard_self.locked++;
    lock_order_take(kind, mutex);
}

void guard_unlock_object(enum lock_kind kind, pthread_mutex_t *mutex)
{
    lock_order_give(kind, mutex);
    guard_self.locked--;
}

void guard_lock(void)
{
    guard_lock_object(LOCK_HOOKS, &guard.mutex);
}

void guard_unlock(void)
{
    guard_unlock_object(LOCK_HOOKS, &guard.mutex);
}

void guard_forked(void)
{
    guard.mutex = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
}

uint64_t guard_interrupted(void)
{
    return __atomic_load_n(&guard.interrupted, __ATOMIC_RELAXED);
}
