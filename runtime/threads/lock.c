/* Mutexes, condition variables, spin locks and read-write locks: a release is ordered before the
 * next acquire.
 *
 * A condition variable orders by its mutex alone: a wait may end without a signal (POSIX,
 * pthread_cond_wait, "spurious wakeups"), so a program that relies on the signal itself has no
 * order either. */
#include "runtime/threads/libc_next.h"
#include "runtime/threads/table.h"

#include <errno.h>
#include <pthread.h>

static void acquired(const struct csan_threads_table *table, const void *key)
{
    if (table)
        table->acquire(key);
}

static int acquired_if(const struct csan_threads_table *table, const void *key, int error)
{
    if (!error)
        acquired(table, key);
    return error;
}

static void releases(const struct csan_threads_table *table, const void *key)
{
    if (table)
        table->release(key, 0);
}

/* ---- mutexes */

/* A robust mutex whose owner died is held, too. */
static int mutex_got(const struct csan_threads_table *table, const pthread_mutex_t *mutex,
                     int error)
{
    if (!error || error == EOWNERDEAD)
        acquired(table, mutex);
    return error;
}

EXPORTED int pthread_mutex_lock(pthread_mutex_t *mutex)
{
    return mutex_got(TABLE(), mutex, SLEEPING(mutex, NULL, LIBC_NEXT(pthread_mutex_lock)(mutex)));
}

EXPORTED int pthread_mutex_trylock(pthread_mutex_t *mutex)
{
    return mutex_got(TABLE(), mutex, LIBC_NEXT(pthread_mutex_trylock)(mutex));
}

EXPORTED int pthread_mutex_timedlock(pthread_mutex_t *mutex, const struct timespec *until)
{
    return mutex_got(TABLE(), mutex,
                     SLEEPING(mutex, NULL, LIBC_NEXT(pthread_mutex_timedlock)(mutex, until)));
}

EXPORTED int pthread_mutex_clocklock(pthread_mutex_t *mutex, clockid_t clock,
                                     const struct timespec *until)
{
    return mutex_got(
        TABLE(), mutex,
        SLEEPING(mutex, NULL, LIBC_NEXT(pthread_mutex_clocklock)(mutex, clock, until)));
}

EXPORTED int pthread_mutex_unlock(pthread_mutex_t *mutex)
{
    releases(TABLE(), mutex);
    return LIBC_NEXT(pthread_mutex_unlock)(mutex);
}

EXPORTED int pthread_mutex_destroy(pthread_mutex_t *mutex)
{
    const struct csan_threads_table *table = TABLE();
    int error = LIBC_NEXT(pthread_mutex_destroy)(mutex);
    if (table && !error)
        table->end(mutex);
    return error;
}

/* ---- condition variables: whatever a wait returns, the mutex is held again, unless an argument
 * was wrong; then the thread gets what it gave */

EXPORTED int pthread_cond_wait(pthread_cond_t *condition, pthread_mutex_t *mutex)
{
    const struct csan_threads_table *table = TABLE();
    releases(table, mutex);
    int error = SLEEPING(condition, mutex, LIBC_NEXT(pthread_cond_wait)(condition, mutex));
    acquired(table, mutex);
    return error;
}

EXPORTED int pthread_cond_timedwait(pthread_cond_t *condition, pthread_mutex_t *mutex,
                                    const struct timespec *until)
{
    const struct csan_threads_table *table = TABLE();
    releases(table, mutex);
    int error =
        SLEEPING(condition, mutex, LIBC_NEXT(pthread_cond_timedwait)(condition, mutex, until));
    acquired(table, mutex);
    return error;
}

EXPORTED int pthread_cond_clockwait(pthread_cond_t *condition, pthread_mutex_t *mutex,
                                    clockid_t clock, const struct timespec *until)
{
    const struct csan_threads_table *table = TABLE();
    releases(table, mutex);
    int error = SLEEPING(condition, mutex,
                         LIBC_NEXT(pthread_cond_clockwait)(condition, mutex, clock, until));
    acquired(table, mutex);
    return error;
}

/* ---- spin locks */

EXPORTED int pthread_spin_lock(pthread_spinlock_t *lock)
{
    return acquired_if(TABLE(), (const void *)lock, LIBC_NEXT(pthread_spin_lock)(lock));
}

EXPORTED int pthread_spin_trylock(pthread_spinlock_t *lock)
{
    return acquired_if(TABLE(), (const void *)lock, LIBC_NEXT(pthread_spin_trylock)(lock));
}

EXPORTED int pthread_spin_unlock(pthread_spinlock_t *lock)
{
    releases(TABLE(), (const void *)lock);
    return LIBC_NEXT(pthread_spin_unlock)(lock);
}

/* ---- read-write locks: a reader gets what writers gave, a writer what readers gave, too. A thread
 * that unlocks does not say which it was: what it releases as a reader is given to writers only,
 * and it is a writer when it has locked so since. */

static __thread const pthread_rwlock_t *written[16]; /* held by this thread for writing */

static const void *readers_of(const pthread_rwlock_t *lock)
{
    return (const char *)lock + 1;
}

static int read_got(const struct csan_threads_table *table, const pthread_rwlock_t *lock, int error)
{
    return acquired_if(table, lock, error);
}

static int write_got(const struct csan_threads_table *table, const pthread_rwlock_t *lock,
                     int error)
{
    if (error || !table)
        return error;
    acquired(table, lock);
    acquired(table, readers_of(lock));
    for (size_t i = 0; i < sizeof written / sizeof *written; i++) {
        if (written[i])
            continue;
        written[i] = lock;
        break;
    }
    return 0;
}

EXPORTED int pthread_rwlock_rdlock(pthread_rwlock_t *lock)
{
    return read_got(TABLE(), lock, SLEEPING(lock, NULL, LIBC_NEXT(pthread_rwlock_rdlock)(lock)));
}

EXPORTED int pthread_rwlock_tryrdlock(pthread_rwlock_t *lock)
{
    return read_got(TABLE(), lock, LIBC_NEXT(pthread_rwlock_tryrdlock)(lock));
}

EXPORTED int pthread_rwlock_timedrdlock(pthread_rwlock_t *lock, const struct timespec *until)
{
    return read_got(TABLE(), lock,
                    SLEEPING(lock, NULL, LIBC_NEXT(pthread_rwlock_timedrdlock)(lock, until)));
}

EXPORTED int pthread_rwlock_clockrdlock(pthread_rwlock_t *lock, clockid_t clock,
                                        const struct timespec *until)
{
    return read_got(
        TABLE(), lock,
        SLEEPING(lock, NULL, LIBC_NEXT(pthread_rwlock_clockrdlock)(lock, clock, until)));
}

EXPORTED int pthread_rwlock_wrlock(pthread_rwlock_t *lock)
{
    return write_got(TABLE(), lock, SLEEPING(lock, NULL, LIBC_NEXT(pthread_rwlock_wrlock)(lock)));
}

EXPORTED int pthread_rwlock_trywrlock(pthread_rwlock_t *lock)
{
    return write_got(TABLE(), lock, LIBC_NEXT(pthread_rwlock_trywrlock)(lock));
}

EXPORTED int pthread_rwlock_timedwrlock(pthread_rwlock_t *lock, const struct timespec *until)
{
    return write_got(TABLE(), lock,
                     SLEEPING(lock, NULL, LIBC_NEXT(pthread_rwlock_timedwrlock)(lock, until)));
}

EXPORTED int pthread_rwlock_clockwrlock(pthread_rwlock_t *lock, clockid_t clock,
                                        const struct timespec *until)
{
    return write_got(
        TABLE(), lock,
        SLEEPING(lock, NULL, LIBC_NEXT(pthread_rwlock_clockwrlock)(lock, clock, until)));
}

EXPORTED int pthread_rwlock_unlock(pthread_rwlock_t *lock)
{
    const struct csan_threads_table *table = TABLE();
    size_t slot = 0, count = sizeof written / sizeof *written;
    while (table && slot < count && written[slot] != lock)
        slot++;
    if (table && slot < count) {
        written[slot] = NULL;
        table->release(lock, 0);
    } else if (table) {
        table->release(readers_of(lock), 1);
    }
    return LIBC_NEXT(pthread_rwlock_unlock)(lock);
}

EXPORTED int pthread_rwlock_destroy(pthread_rwlock_t *lock)
{
    const struct csan_threads_table *table = TABLE();
    int error = LIBC_NEXT(pthread_rwlock_destroy)(lock);
    if (table && !error) {
        table->end(lock);
        table->end(readers_of(lock));
    }
    return error;
}
