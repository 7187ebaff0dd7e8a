/* The worker pool: see worker_pool.h. Threads take a job's parts from one word that holds the job's
 * number and the next part. A thread that is late for a job finds another number there and takes
 * nothing. */
#include "runtime/device/driver/worker_pool.h"
#include "runtime/device/driver/driver.h"

#include <sched.h>

enum { MOST_THREADS = 8, EAGER_TURNS = 4000, YIELD_AFTER = 2000 };

static struct {
    pthread_mutex_t caller; /* held by whose job it is */
    pthread_mutex_t lock;   /* of what follows */
    pthread_cond_t work;
    void (*run)(void *job, uint32_t part);
    void *job;
    uint32_t parts, threads, asleep;
    _Atomic uint64_t ticket; /* the job's number, then the next part's in 32 bits */
    _Atomic uint32_t finished;
} pool = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER};

uint32_t worker_pool_size(void)
{
    cpu_set_t cores;
    int count = sched_getaffinity(0, sizeof cores, &cores) ? 1 : CPU_COUNT(&cores);
    return count > MOST_THREADS ? MOST_THREADS : count < 1 ? 1 : (uint32_t)count;
}

/* Take parts of job number `number` as long as there are any. */
static void take_parts(uint64_t number, void (*run)(void *job, uint32_t part), void *job,
                       uint32_t parts)
{
    uint64_t ticket = atomic_load(&pool.ticket);
    while (ticket >> 32 == number && (uint32_t)ticket < parts) {
        if (!atomic_compare_exchange_weak(&pool.ticket, &ticket, ticket + 1))
            continue;
        run(job, (uint32_t)ticket);
        atomic_fetch_add(&pool.finished, 1);
        ticket = atomic_load(&pool.ticket);
    }
}

/* While another thread is about to be done. */
static void rest(void)
{
#if defined(__x86_64__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

/* The next slice of a launch often comes within microseconds: look before sleeping. */
static void watch(uint64_t number)
{
    for (int turn = 0; turn < EAGER_TURNS && atomic_load(&pool.ticket) >> 32 == number; turn++)
        rest();
}

static void *work(void *unused)
{
    (void)unused;
    uint64_t number = 0;
    for (;;) {
        watch(number);
        pthread_mutex_lock(&pool.lock);
        while (atomic_load(&pool.ticket) >> 32 == number) {
            pool.asleep++;
            pthread_cond_wait(&pool.work, &pool.lock);
            pool.asleep--;
        }
        number = atomic_load(&pool.ticket) >> 32;
        void (*run)(void *, uint32_t) = pool.run;
        void *job = pool.job;
        uint32_t parts = pool.parts;
        pthread_mutex_unlock(&pool.lock);
        take_parts(number, run, job, parts);
    }
    return NULL;
}

/* Under the lock. Fewer threads than wanted is slower, and nothing worse. */
static void start_threads(uint32_t wanted)
{
    while (pool.threads < wanted && schedule_thread(work))
        pool.threads++;
}

static void wait_for_others(uint32_t parts)
{
    for (int turn = 0; atomic_load(&pool.finished) < parts; turn++) {
        if (turn < YIELD_AFTER)
            rest();
        else
            sched_yield();
    }
}

void worker_pool_run(void (*run)(void *job, uint32_t part), void *job, uint32_t parts)
{
    if (parts < 2 || pthread_mutex_trylock(&pool.caller)) {
        for (uint32_t part = 0; part < parts; part++)
            run(job, part);
        return;
    }
    pthread_mutex_lock(&pool.lock);
    start_threads((parts < MOST_THREADS ? parts : MOST_THREADS) - 1);
    uint64_t number = ((atomic_load(&pool.ticket) >> 32) + 1) & UINT32_MAX;
    pool.run = run;
    pool.job = job;
    pool.parts = parts;
    atomic_store(&pool.finished, 0);
    atomic_store(&pool.ticket, number << 32);
    if (pool.asleep)
        pthread_cond_broadcast(&pool.work);
    pthread_mutex_unlock(&pool.lock);
    take_parts(number, run, job, parts);
    wait_for_others(parts);
    pthread_mutex_unlock(&pool.caller);
}
