/* See lock.h. */
#include "csan/base/lock.h"

#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <linux/membarrier.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* What the lock is held for takes less than a hundred looks, unless its holder sleeps. */
enum { LOOKS = 100, BLIND_MS = 1 };

static void futex_wait(uint32_t *word, uint32_t value, const struct timespec *at_most)
{
    syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, value, at_most, NULL, 0);
}

static void futex_wake(uint32_t *word, int count)
{
    syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, count, NULL, NULL, 0);
}

static bool try_take(struct lock *lock)
{
    uint32_t free = 0;
    return __atomic_compare_exchange_n(&lock->held, &free, 1, false, __ATOMIC_ACQUIRE,
                                       __ATOMIC_RELAXED);
}

static bool try_for_a_while(struct lock *lock)
{
    for (int i = 0; i < LOOKS; i++) {
        if (!__atomic_load_n(&lock->held, __ATOMIC_RELAXED) && try_take(lock))
            return true;
#ifdef __x86_64__
        __builtin_ia32_pause();
#endif
    }
    return false;
}

/* Every running thread passes a barrier before this returns; false: the kernel does not do that. A
 * process asks for it once, and a forked one may have to again. */
static bool all_pass_barrier(void)
{
    if (syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0) == 0)
        return true;
    return syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0) == 0 &&
           syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0) == 0;
}

/* Who was woken says that others may wait, so that giving the lock back wakes the next. */
void lock_take_slow(struct lock *lock)
{
    static const struct timespec blind = {.tv_nsec = BLIND_MS * 1000000L};
    if (try_for_a_while(lock))
        return;
    int error = errno; /* the program's, in whose call this may be */
    do {
        __atomic_store_n(&lock->waiting, 1, __ATOMIC_SEQ_CST);
        bool seen = all_pass_barrier();
        if (try_take(lock))
            break;
        futex_wait(&lock->waiting, 1, seen ? NULL : &blind);
    } while (!try_take(lock));
    __atomic_store_n(&lock->waiting, 1, __ATOMIC_RELAXED);
    errno = error;
}

/* One is woken; until it runs, nobody else needs to be. */
void lock_give_slow(struct lock *lock)
{
    int error = errno;
    if (__atomic_exchange_n(&lock->waiting, 0, __ATOMIC_SEQ_CST))
        futex_wake(&lock->waiting, 1);
    errno = error;
}

void lock_wait(struct lock *lock, uint32_t *bell, uint32_t milliseconds)
{
    struct timespec at_most = {milliseconds / 1000, (long)(milliseconds % 1000) * 1000000};
    uint32_t heard = __atomic_load_n(bell, __ATOMIC_RELAXED);
    lock_give(lock);
    futex_wait(bell, heard, &at_most);
    lock_take(lock);
}

void lock_ring(uint32_t *bell)
{
    int error = errno;
    __atomic_fetch_add(bell, 1, __ATOMIC_RELEASE);
    futex_wake(bell, INT_MAX);
    errno = error;
}
