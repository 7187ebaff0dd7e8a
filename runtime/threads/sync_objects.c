/* Semaphores, barriers and pthread_once: several threads may release before one acquires. The
 * acquire is ordered after all of those releases. */
#include "runtime/threads/libc_next.h"
#include "runtime/threads/table.h"

#include <pthread.h>
#include <semaphore.h>
#include <stdlib.h>
#include <uthash.h>

static int acquired(const struct csan_threads_table *table, const void *key, int error)
{
    if (table && !error)
        table->acquire(key);
    return error;
}

/* ---- semaphores: csan does not know which post a wait answers to, so it takes all of them */

EXPORTED int sem_post(sem_t *semaphore)
{
    const struct csan_threads_table *table = TABLE();
    if (table)
        table->release(semaphore, 1);
    return LIBC_NEXT(sem_post)(semaphore);
}

EXPORTED int sem_wait(sem_t *semaphore)
{
    return acquired(TABLE(), semaphore, SLEEPING(semaphore, NULL, LIBC_NEXT(sem_wait)(semaphore)));
}

EXPORTED int sem_trywait(sem_t *semaphore)
{
    return acquired(TABLE(), semaphore, LIBC_NEXT(sem_trywait)(semaphore));
}

EXPORTED int sem_timedwait(sem_t *semaphore, const struct timespec *until)
{
    return acquired(TABLE(), semaphore,
                    SLEEPING(semaphore, NULL, LIBC_NEXT(sem_timedwait)(semaphore, until)));
}

EXPORTED int sem_clockwait(sem_t *semaphore, clockid_t clock, const struct timespec *until)
{
    return acquired(TABLE(), semaphore,
                    SLEEPING(semaphore, NULL, LIBC_NEXT(sem_clockwait)(semaphore, clock, until)));
}

EXPORTED int sem_destroy(sem_t *semaphore)
{
    const struct csan_threads_table *table = TABLE();
    int error = LIBC_NEXT(sem_destroy)(semaphore);
    if (table && !error)
        table->end(semaphore);
    return error;
}

/* ---- barriers: each round has a key of its own, every second round the same */

struct barrier {
    const pthread_barrier_t *name;
    unsigned threads;
    unsigned long arrived;
    UT_hash_handle hh;
};

static struct {
    pthread_mutex_t lock; /* taken as the C library's own */
    struct barrier *list;
} barriers = {.lock = PTHREAD_MUTEX_INITIALIZER};

static struct barrier *barrier_lock(const pthread_barrier_t *name)
{
    struct barrier *barrier;
    LIBC_NEXT(pthread_mutex_lock)(&barriers.lock);
    HASH_FIND_PTR(barriers.list, &name, barrier);
    return barrier;
}

static void barrier_unlock(void)
{
    LIBC_NEXT(pthread_mutex_unlock)(&barriers.lock);
}

static void barrier_remember(const pthread_barrier_t *name, unsigned threads)
{
    struct barrier *barrier = barrier_lock(name);
    if (!barrier && (barrier = calloc(1, sizeof *barrier)) != NULL) {
        barrier->name = name;
        HASH_ADD_PTR(barriers.list, name, barrier);
    }
    if (barrier) {
        barrier->threads = threads;
        barrier->arrived = 0;
    }
    barrier_unlock();
}

/* The key of the round that the calling thread takes part in. */
static const void *barrier_arrive(const pthread_barrier_t *name)
{
    struct barrier *barrier = barrier_lock(name);
    unsigned long round = barrier ? barrier->arrived++ / barrier->threads : 0;
    barrier_unlock();
    return (const char *)name + round % 2;
}

EXPORTED int pthread_barrier_init(pthread_barrier_t *barrier,
                                  const pthread_barrierattr_t *attributes, unsigned threads)
{
    const struct csan_threads_table *table = TABLE();
    int error = LIBC_NEXT(pthread_barrier_init)(barrier, attributes, threads);
    if (table && !error)
        barrier_remember(barrier, threads);
    return error;
}

EXPORTED int pthread_barrier_wait(pthread_barrier_t *barrier)
{
    const struct csan_threads_table *table = TABLE();
    const void *key = table ? barrier_arrive(barrier) : NULL;
    if (table)
        table->release(key, 1);
    int error = SLEEPING(barrier, NULL, LIBC_NEXT(pthread_barrier_wait)(barrier));
    if (table && (!error || error == PTHREAD_BARRIER_SERIAL_THREAD))
        table->acquire(key);
    return error;
}

EXPORTED int pthread_barrier_destroy(pthread_barrier_t *name)
{
    const struct csan_threads_table *table = TABLE();
    int error = LIBC_NEXT(pthread_barrier_destroy)(name);
    if (!table || error)
        return error;
    struct barrier *barrier = barrier_lock(name);
    if (barrier)
        HASH_DEL(barriers.list, barrier);
    barrier_unlock();
    free(barrier);
    table->end(name);
    table->end((const char *)name + 1);
    return 0;
}

/* ---- once: whoever returns is ordered after the function that ran */

static __thread struct {
    const struct csan_threads_table *table;
    const void *key;
    void (*function)(void);
} once;

static void once_run(void)
{
    const struct csan_threads_table *table = once.table;
    const void *key = once.key;
    once.function();
    table->release(key, 0);
}

void (*once_of(const struct csan_threads_table *table, const void *key,
               void (*function)(void)))(void)
{
    once.table = table;
    once.key = key;
    once.function = function;
    return once_run;
}

EXPORTED int pthread_once(pthread_once_t *control, void (*function)(void))
{
    const struct csan_threads_table *table = TABLE();
    if (!table)
        return LIBC_NEXT(pthread_once)(control, function);
    return acquired(table, control,
                    LIBC_NEXT(pthread_once)(control, once_of(table, control, function)));
}
