/* The lock of a context, taken by every call of every thread and nearly always free.
 *
 * Taking it is one atomic operation, or none while the process has one thread. Giving it back is a
 * store, and a look whether anybody waits. The processor may do the look first; so a thread that is
 * about to sleep says so and then makes all running threads pass a barrier (membarrier(2), private
 * and expedited): who gives the lock back afterwards sees it, who did before is seen to have. Where
 * the kernel refuses, who sleeps wakes after a millisecond to see for itself.
 *
 * Not recursive. Held across a fork by another thread, it stays held in the child, as a mutex
 * would. The context uses it, and the recording to wait for work. */
#ifndef CSAN_BASE_LOCK_H
#define CSAN_BASE_LOCK_H

#include "csan/base/lock_order.h"

#include <stdint.h>
#include <sys/single_threaded.h>

struct lock {
    uint32_t held;    /* 0 or 1 */
    uint32_t waiting; /* 1: threads sleep or are about to, and none has been woken; a futex */
};

/* ThreadSanitizer's, where the program under csan has it: the order that a mutex would have shown.
 */
extern void __tsan_acquire(void *address) __attribute__((weak));
extern void __tsan_release(void *address) __attribute__((weak));

void lock_take_slow(struct lock *lock);
void lock_give_slow(struct lock *lock);

static inline void lock_take(struct lock *lock)
{
#ifdef CSAN_CHECK_LOCKS
    lock_order_taking(LOCK_DETECTOR);
#endif
    uint32_t free = 0;
    if (__libc_single_threaded && !__atomic_load_n(&lock->held, __ATOMIC_RELAXED))
        __atomic_store_n(&lock->held, 1, __ATOMIC_RELAXED);
    else if (__builtin_expect(!__atomic_compare_exchange_n(&lock->held, &free, 1, 0,
                                                           __ATOMIC_ACQUIRE, __ATOMIC_RELAXED),
                              0))
        lock_take_slow(lock);
    if (__builtin_expect(__tsan_acquire != 0, 0))
        __tsan_acquire(lock);
}

static inline void lock_give(struct lock *lock)
{
#ifdef CSAN_CHECK_LOCKS
    lock_order_given(LOCK_DETECTOR);
#endif
    if (__builtin_expect(__tsan_release != 0, 0))
        __tsan_release(lock);
    __atomic_store_n(&lock->held, 0, __ATOMIC_RELEASE);
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    if (__builtin_expect(__atomic_load_n(&lock->waiting, __ATOMIC_RELAXED) != 0, 0))
        lock_give_slow(lock);
}

/* Give the lock back, sleep until `bell` is rung or the time is over, and take the lock again. A
 * ring since the lock was taken counts. */
void lock_wait(struct lock *lock, uint32_t *bell, uint32_t milliseconds);
/* With the lock or without. */
void lock_ring(uint32_t *bell);

#endif
