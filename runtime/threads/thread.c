/* Threads that are created and joined. The module remembers which thread a pthread_t names until
 * the thread is joined or detached. The C library does not reuse the name before that. */
#include "runtime/threads/libc_next.h"
#include "runtime/threads/table.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <uthash.h>

const struct csan_threads_table *threads_table;

struct named {
    pthread_t name;
    void *thread; /* csan's */
    UT_hash_handle hh;
};

/* What a new thread finds. */
struct start {
    void *(*function)(void *);
    void *argument, *thread;
};

static struct {
    pthread_mutex_t lock; /* taken as the C library's own */
    struct named *threads;
} names = {.lock = PTHREAD_MUTEX_INITIALIZER};

static __thread bool
    creating; /* an allocator may create a thread of its own within pthread_create */

/* Only the thread that forked goes on in the child, and csan does not. */
static void in_child(void)
{
    threads_table = NULL;
}

EXPORTED void csan_threads_activate(const struct csan_threads_table *given)
{
    pthread_atfork(NULL, NULL, in_child);
    __atomic_store_n(&threads_table, given, __ATOMIC_RELEASE);
}

/* ---- names */

static void table_lock(void)
{
    LIBC_NEXT(pthread_mutex_lock)(&names.lock);
}

static void table_unlock(void)
{
    LIBC_NEXT(pthread_mutex_unlock)(&names.lock);
}

/* With the lock held. Without memory csan loses sight of the thread. */
static void name_add(pthread_t name, void *thread)
{
    struct named *named = malloc(sizeof *named);
    if (!named)
        return;
    named->name = name;
    named->thread = thread;
    HASH_ADD(hh, names.threads, name, sizeof name, named);
}

static void *name_take(pthread_t name)
{
    struct named *named;
    void *thread = NULL;
    table_lock();
    HASH_FIND(hh, names.threads, &name, sizeof name, named);
    if (named) {
        thread = named->thread;
        HASH_DEL(names.threads, named);
    }
    table_unlock();
    free(named);
    return thread;
}

static void name_put_back(pthread_t name, void *thread)
{
    table_lock();
    name_add(name, thread);
    table_unlock();
}

/* ---- create */

static void *run(void *user)
{
    struct start start = *(struct start *)user;
    const struct csan_threads_table *table = __atomic_load_n(&threads_table, __ATOMIC_ACQUIRE);
    free(user);
    if (table)
        table->start(start.thread);
    return start.function(start.argument);
}

static bool is_detached(const pthread_attr_t *attributes)
{
    int state;
    return attributes && pthread_attr_getdetachstate(attributes, &state) == 0 &&
           state == PTHREAD_CREATE_DETACHED;
}

/* Whoever learns the thread's name finds it in the table: looking it up waits for the lock. */
static int create(pthread_t *name, const pthread_attr_t *attributes, struct start *start)
{
    void *thread = start->thread;
    creating = true;
    table_lock();
    int error = LIBC_NEXT(pthread_create)(name, attributes, run, start);
    if (!error && !is_detached(attributes))
        name_add(*name, thread);
    table_unlock();
    creating = false;
    return error;
}

int thread_create(const struct csan_threads_table *table, pthread_t *name,
                  const pthread_attr_t *attributes, void *(*function)(void *), void *argument)
{
    struct start *start = table && !creating ? malloc(sizeof *start) : NULL;
    void *thread = start ? table->create() : NULL;
    if (!thread) {
        free(start);
        return LIBC_NEXT(pthread_create)(name, attributes, function, argument);
    }
    *start = (struct start){function, argument, thread};
    int error = create(name, attributes, start);
    if (error) {
        free(start);
        table->forget(thread); /* for the thread that never was */
        table->forget(thread);
    } else if (is_detached(attributes)) {
        table->forget(thread);
    }
    return error;
}

EXPORTED int pthread_create(pthread_t *name, const pthread_attr_t *attributes,
                            void *(*function)(void *), void *argument)
{
    return thread_create(creating ? NULL : TABLE(), name, attributes, function, argument);
}

/* ---- join */

static int joined(const struct csan_threads_table *table, pthread_t name, void *thread, int error)
{
    if (thread && error) {
        name_put_back(name, thread);
    } else if (thread) {
        table->join(thread);
        table->forget(thread);
    }
    return error;
}

int thread_join(const struct csan_threads_table *table, pthread_t name, void **value)
{
    void *thread = table ? name_take(name) : NULL;
    return joined(table, name, thread, LIBC_NEXT(pthread_join)(name, value));
}

EXPORTED int pthread_join(pthread_t name, void **value)
{
    return thread_join(TABLE(), name, value);
}

EXPORTED int pthread_tryjoin_np(pthread_t name, void **value)
{
    const struct csan_threads_table *table = TABLE();
    void *thread = table ? name_take(name) : NULL;
    return joined(table, name, thread, LIBC_NEXT(pthread_tryjoin_np)(name, value));
}

EXPORTED int pthread_timedjoin_np(pthread_t name, void **value, const struct timespec *until)
{
    const struct csan_threads_table *table = TABLE();
    void *thread = table ? name_take(name) : NULL;
    return joined(table, name, thread, LIBC_NEXT(pthread_timedjoin_np)(name, value, until));
}

EXPORTED int pthread_clockjoin_np(pthread_t name, void **value, clockid_t clock,
                                  const struct timespec *until)
{
    const struct csan_threads_table *table = TABLE();
    void *thread = table ? name_take(name) : NULL;
    return joined(table, name, thread, LIBC_NEXT(pthread_clockjoin_np)(name, value, clock, until));
}

int thread_detach(const struct csan_threads_table *table, pthread_t name)
{
    void *thread = table ? name_take(name) : NULL;
    int error = LIBC_NEXT(pthread_detach)(name);
    if (thread && error)
        name_put_back(name, thread);
    else if (thread)
        table->forget(thread);
    return error;
}

EXPORTED int pthread_detach(pthread_t name)
{
    return thread_detach(TABLE(), name);
}
