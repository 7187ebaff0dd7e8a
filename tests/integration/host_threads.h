// Two host threads that hand one array to each other, for programs with host_order=threads.
#pragma once

#include "program.h"
#include <atomic>
#include <pthread.h>

static int *p; // in device memory

static inline void work_and_wait()
{
    cudaStream_t stream = nonblocking_stream();
    launch_increment(stream, p);
    CHECK(cudaStreamSynchronize(stream));
}

static inline void work()
{
    launch_increment(nonblocking_stream(), p);
}

typedef void *thread_function(void *);

static inline void run_both(thread_function *first, thread_function *second)
{
    pthread_t threads[2];
    p = device_array<int>();
    pthread_create(&threads[0], nullptr, first, nullptr);
    pthread_create(&threads[1], nullptr, second, nullptr);
    for (pthread_t &thread : threads)
        pthread_join(thread, nullptr);
}

// A flag that csan does not see.
static std::atomic<int> unseen;
static inline void flag_raise()
{
    unseen = 1;
}
static inline void flag_wait()
{
    while (!unseen)
        sched_yield();
}
