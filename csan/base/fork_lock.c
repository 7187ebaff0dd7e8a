/* See fork_lock.h. */
#include "csan/base/fork_lock.h"

#include <stddef.h>
#include <stdint.h>
#include <time.h>

enum { KEPT_MAX = 8, MOMENT_MS = 100 };

static struct {
    pthread_mutex_t *mutexes[KEPT_MAX];
    size_t count; /* atomic */
} kept;

/* Those that the calling thread took for its fork, a bit each. */
static __thread uint32_t taken __attribute__((tls_model("initial-exec")));

static size_t kept_count(void)
{
    return __atomic_load_n(&kept.count, __ATOMIC_ACQUIRE);
}

static void prepare(void)
{
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_nsec += MOMENT_MS * 1000000L;
    until.tv_sec += until.tv_nsec / 1000000000;
    until.tv_nsec %= 1000000000;
    taken = 0;
    for (size_t i = 0; i < kept_count(); i++)
        if (pthread_mutex_timedlock(kept.mutexes[i], &until) == 0)
            taken |= UINT32_C(1) << i;
}

static void parent_goes_on(void)
{
    for (size_t i = 0; i < KEPT_MAX; i++)
        if (taken >> i & 1)
            pthread_mutex_unlock(kept.mutexes[i]);
    taken = 0;
}

static void child_begins(void)
{
    for (size_t i = 0; i < kept_count(); i++)
        if (!(taken >> i & 1))
            *kept.mutexes[i] = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
    parent_goes_on();
}

static void handlers_register(void)
{
    pthread_atfork(prepare, parent_goes_on, child_begins);
}

void fork_lock_keep(pthread_mutex_t *mutex)
{
    static pthread_once_t registered = PTHREAD_ONCE_INIT;
    static pthread_mutex_t keeping = PTHREAD_MUTEX_INITIALIZER;
    pthread_once(&registered, handlers_register);
    pthread_mutex_lock(&keeping);
    size_t at = 0;
    while (at < kept.count && kept.mutexes[at] != mutex)
        at++;
    if (at == kept.count && at < KEPT_MAX) {
        kept.mutexes[at] = mutex;
        __atomic_store_n(&kept.count, at + 1, __ATOMIC_RELEASE);
    }
    pthread_mutex_unlock(&keeping);
}
