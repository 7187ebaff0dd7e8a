/* Threads and locks of C11 (7.26). The C library makes them of pthread's, by names of its own, so
 * that nothing arrives at the functions that stand in front of those. */
#include "runtime/threads/libc_next.h"
#include "runtime/threads/table.h"

#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <threads.h>

static int acquired_if(const struct csan_threads_table *table, const void *key, int result)
{
    if (table && result == thrd_success)
        table->acquire(key);
    return result;
}

/* ---- mutexes */

EXPORTED int mtx_lock(mtx_t *mutex)
{
    const struct csan_threads_table *table = TABLE();
    return acquired_if(table, mutex, SLEEPING(mutex, NULL, LIBC_NEXT(mtx_lock)(mutex)));
}

EXPORTED int mtx_timedlock(mtx_t *restrict mutex, const struct timespec *restrict until)
{
    const struct csan_threads_table *table = TABLE();
    return acquired_if(table, mutex, SLEEPING(mutex, NULL, LIBC_NEXT(mtx_timedlock)(mutex, until)));
}

EXPORTED int mtx_trylock(mtx_t *mutex)
{
    const struct csan_threads_table *table = TABLE();
    return acquired_if(table, mutex, LIBC_NEXT(mtx_trylock)(mutex));
}

EXPORTED int mtx_unlock(mtx_t *mutex)
{
    const struct csan_threads_table *table = TABLE();
    if (table)
        table->release(mutex, 0);
    return LIBC_NEXT(mtx_unlock)(mutex);
}

EXPORTED void mtx_destroy(mtx_t *mutex)
{
    const struct csan_threads_table *table = TABLE();
    LIBC_NEXT(mtx_destroy)(mutex);
    if (table)
        table->end(mutex);
}

/* ---- condition variables: as pthread's, see lock.c */

EXPORTED int cnd_wait(cnd_t *condition, mtx_t *mutex)
{
    const struct csan_threads_table *table = TABLE();
    if (table)
        table->release(mutex, 0);
    const int result = SLEEPING(condition, mutex, LIBC_NEXT(cnd_wait)(condition, mutex));
    if (table)
        table->acquire(mutex);
    return result;
}

EXPORTED int cnd_timedwait(cnd_t *restrict condition, mtx_t *restrict mutex,
                           const struct timespec *restrict until)
{
    const struct csan_threads_table *table = TABLE();
    if (table)
        table->release(mutex, 0);
    const int result =
        SLEEPING(condition, mutex, LIBC_NEXT(cnd_timedwait)(condition, mutex, until));
    if (table)
        table->acquire(mutex);
    return result;
}

/* ---- once */

EXPORTED void call_once(once_flag *flag, void (*function)(void))
{
    const struct csan_threads_table *table = TABLE();
    LIBC_NEXT(call_once)(flag, table ? once_of(table, flag, function) : function);
    if (table)
        table->acquire(flag);
}

/* ---- threads: by this library's own functions for pthread's. A result is an int within a pointer,
 * as the C library has it, so that thrd_exit is pthread_exit. */

struct start {
    thrd_start_t function;
    void *argument;
};

static void *run(void *user)
{
    const struct start start = *(struct start *)user;
    free(user);
    return (void *)(intptr_t)start.function(start.argument);
}

EXPORTED int thrd_create(thrd_t *name, thrd_start_t function, void *argument)
{
    const struct csan_threads_table *table = TABLE();
    struct start *start = table ? malloc(sizeof *start) : NULL;
    if (!start)
        return LIBC_NEXT(thrd_create)(name, function, argument);
    *start = (struct start){function, argument};
    if (thread_create(table, name, NULL, run, start) == 0)
        return thrd_success;
    free(start);
    return thrd_error;
}

EXPORTED int thrd_join(thrd_t name, int *value)
{
    void *result;
    if (thread_join(TABLE(), name, &result) != 0)
        return thrd_error;
    if (value)
        *value = (int)(intptr_t)result;
    return thrd_success;
}

EXPORTED int thrd_detach(thrd_t name)
{
    return thread_detach(TABLE(), name) == 0 ? thrd_success : thrd_error;
}
