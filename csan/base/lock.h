/* The lock of a context. Every call of every thread takes it, and it is nearly always free.
 *
 * To take it costs one atomic operation, or none while the process has one thread. To give it back
 * costs a store, and a look whether another thread waits. The processor may do that look before the
 * store. So a thread that is about to sleep first announces that, and then makes all running
 * threads pass a barrier (membarrier(2), private and expedited). Whoever gives the lock back after
 * the barrier sees the announcement; whoever did it before is seen to have done so. If the kernel
 * refuses the barrier, sleeping threads wake every millisecond and look.
 *
 * The lock is not recursive. If another thread holds it during a fork, it stays held in the child,
 * as a mutex would. The context uses it, and the recording uses it to wait for work. */
#ifndef CSAN_BASE_LOCK_H
#define CSAN_BASE_LOCK_H

#include "csan/base/lock_order.h"
#include "csan/base/thread_sanitizer.h"

#include <stdint.h>
#include <sys/single_threaded.h>

struct lock {
    uint32_t held;    /* 0 or 1 */
    uint32_t waiting; /* futex; 1: threads sleep or are about to, and none has been woken */
};

/* ThreadSanitizer's annotations, if the program runs under it: they show the order that a mutex
 * would have shown. libcsan_host has them, too, and would ask csan, which has the lock. */
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
    if (__builtin_expect(thread_sanitizer_is_here(), 0))
        __tsan_acquire(lock);
}

static inline void lock_give(struct lock *lock)
{
#ifdef CSAN_CHECK_LOCKS
    lock_order_given(LOCK_DETECTOR);
#endif
    if (__builtin_expect(thread_sanitizer_is_here(), 0))
        __tsan_release(lock);
    __atomic_store_n(&lock->held, 0, __ATOMIC_RELEASE);
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    if (__builtin_expect(__atomic_load_n(&lock->waiting, __ATOMIC_RELAXED) != 0, 0))
        lock_give_slow(lock);
}

/* Gives the lock back, sleeps until `bell` is rung or the time is over, and takes the lock again.
 * Rings count from the moment when the lock was taken. */
void lock_wait(struct lock *lock, uint32_t *bell, uint32_t milliseconds);
/* With the lock or without. */
void lock_ring(uint32_t *bell);

#endif
