// Every function of pthread, and with C11_THREADS of C11's threads, by which one thread hands the
// array to another. HAND_OVER is what the first thread does: it works, then gives, or gives before
// it has worked.
#pragma once

#include "host_threads.h"
#include <ctime>
#include <functional>
#include <semaphore.h>
#include <threads.h>
#include <vector>

struct handover {
    std::function<void()> before, give, get;
};

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static pthread_spinlock_t spin;
static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
static sem_t semaphore;
static pthread_once_t once_control;
static std::function<void()> once_work;
static bool ready;

static timespec in_a_minute(clockid_t clock)
{
    timespec now;
    clock_gettime(clock, &now);
    now.tv_sec += 60;
    return now;
}

static timespec minute, minute_monotonic;

#ifdef C11_THREADS
static mtx_t c_mutex;
static cnd_t c_condition;
static once_flag c_once;

static void give_c_mutex()
{
    mtx_lock(&c_mutex);
    mtx_unlock(&c_mutex);
}
#endif

static void give_mutex()
{
    pthread_mutex_lock(&mutex);
    pthread_mutex_unlock(&mutex);
}

// The waits below end by their time-out, which is past: the mutex is given and got all the same.
static const timespec past = {0, 0};

static std::vector<handover> handovers()
{
    auto nothing = [] {};
    auto unlock = [] { pthread_mutex_unlock(&mutex); };
#ifdef C11_THREADS
    auto c_unlock = [] { mtx_unlock(&c_mutex); };
    mtx_init(&c_mutex, mtx_timed);
    cnd_init(&c_condition);
#endif
    auto read_unlock = [] { pthread_rwlock_unlock(&lock); };
    auto give_lock = [] {
        pthread_rwlock_wrlock(&lock);
        pthread_rwlock_unlock(&lock);
    };
    auto give_as_reader = [] {
        pthread_rwlock_rdlock(&lock);
        pthread_rwlock_unlock(&lock);
    };
    auto give_spin = [] {
        pthread_spin_lock(&spin);
        pthread_spin_unlock(&spin);
    };
    auto post = [] { sem_post(&semaphore); };
    minute = in_a_minute(CLOCK_REALTIME);
    minute_monotonic = in_a_minute(CLOCK_MONOTONIC);
    pthread_spin_init(&spin, PTHREAD_PROCESS_PRIVATE);
    sem_init(&semaphore, 0, 0);
    return {
        {nothing, give_mutex, [=] { pthread_mutex_lock(&mutex), unlock(); }},
        {nothing, give_mutex, [=] { pthread_mutex_trylock(&mutex), unlock(); }},
        {nothing, give_mutex, [=] { pthread_mutex_timedlock(&mutex, &minute), unlock(); }},
        {nothing, give_mutex,
         [=] { pthread_mutex_clocklock(&mutex, CLOCK_MONOTONIC, &minute_monotonic), unlock(); }},
        {nothing,
         [=] {
             pthread_mutex_lock(&mutex);
             pthread_cond_timedwait(&condition, &mutex, &past);
             unlock();
         },
         give_mutex},
        {nothing,
         [=] {
             pthread_mutex_lock(&mutex);
             pthread_cond_clockwait(&condition, &mutex, CLOCK_MONOTONIC, &past);
             unlock();
         },
         give_mutex},
        {nothing, give_spin, [] { pthread_spin_lock(&spin), pthread_spin_unlock(&spin); }},
        {nothing, give_spin, [] { pthread_spin_trylock(&spin), pthread_spin_unlock(&spin); }},
        {nothing, give_lock, [=] { pthread_rwlock_rdlock(&lock), read_unlock(); }},
        {nothing, give_lock, [=] { pthread_rwlock_tryrdlock(&lock), read_unlock(); }},
        {nothing, give_lock, [=] { pthread_rwlock_timedrdlock(&lock, &minute), read_unlock(); }},
        {nothing, give_lock,
         [=] {
             pthread_rwlock_clockrdlock(&lock, CLOCK_MONOTONIC, &minute_monotonic);
             read_unlock();
         }},
        {nothing, give_as_reader, [=] { pthread_rwlock_wrlock(&lock), read_unlock(); }},
        {nothing, give_as_reader, [=] { pthread_rwlock_trywrlock(&lock), read_unlock(); }},
        {nothing, give_as_reader,
         [=] { pthread_rwlock_timedwrlock(&lock, &minute), read_unlock(); }},
        {nothing, give_as_reader,
         [=] {
             pthread_rwlock_clockwrlock(&lock, CLOCK_MONOTONIC, &minute_monotonic);
             read_unlock();
         }},
        {nothing, post, [] { sem_wait(&semaphore); }},
        {nothing, post, [] { sem_trywait(&semaphore); }},
        {nothing, post, [] { sem_timedwait(&semaphore, &minute); }},
        {nothing, post, [] { sem_clockwait(&semaphore, CLOCK_MONOTONIC, &minute_monotonic); }},
        {[] { once_control = PTHREAD_ONCE_INIT; }, [] { pthread_once(&once_control, [] {}); },
         [] { pthread_once(&once_control, [] {}); }},
#ifdef C11_THREADS
        {nothing, give_c_mutex, [=] { mtx_lock(&c_mutex), c_unlock(); }},
        {nothing, give_c_mutex, [=] { mtx_trylock(&c_mutex), c_unlock(); }},
        {nothing, give_c_mutex, [=] { mtx_timedlock(&c_mutex, &minute), c_unlock(); }},
        {nothing,
         [=] {
             mtx_lock(&c_mutex);
             cnd_timedwait(&c_condition, &c_mutex, &past);
             c_unlock();
         },
         give_c_mutex},
        {[] { c_once = ONCE_FLAG_INIT; }, [] { call_once(&c_once, [] {}); },
         [] { call_once(&c_once, [] {}); }},
#endif
    };
}

static const handover *now;
static void first_works();

static void *first(void *)
{
    first_works();
    flag_raise();
    return nullptr;
}

static void *second(void *)
{
    flag_wait();
    now->get();
    work();
    return nullptr;
}

// The ways to wait for a thread's end; none is left out by the compiler.
static int joins()
{
    static const std::function<int(pthread_t)> ways[] = {
        [](pthread_t thread) { return pthread_join(thread, nullptr); },
        [](pthread_t thread) {
            while (pthread_tryjoin_np(thread, nullptr) != 0)
                sched_yield();
            return 0;
        },
        [](pthread_t thread) { return pthread_timedjoin_np(thread, nullptr, &minute); },
        [](pthread_t thread) {
            return pthread_clockjoin_np(thread, nullptr, CLOCK_MONOTONIC, &minute_monotonic);
        },
    };
    for (auto &join : ways) {
        pthread_t thread;
        p = device_array<int>();
        auto body = [](void *) -> void * {
            work_and_wait();
            return nullptr;
        };
        pthread_create(&thread, nullptr, body, nullptr);
        if (join(thread) != 0)
            return 103;
        work();
        CHECK(cudaDeviceSynchronize());
    }
#ifdef C11_THREADS
    thrd_t thread;
    int result;
    p = device_array<int>();
    auto body = [](void *) {
        work_and_wait();
        return 7;
    };
    if (thrd_create(&thread, body, nullptr) != thrd_success ||
        thrd_join(thread, &result) != thrd_success || result != 7)
        return 103;
    work();
    CHECK(cudaDeviceSynchronize());
#endif
    return 0;
}

static int all_handovers()
{
    for (const handover &one : handovers()) {
        unseen = 0;
        now = &one;
        one.before();
        run_both(first, second);
        CHECK(cudaDeviceSynchronize());
    }
    return 0;
}
