// Threads sleep in locks of every kind that lie in a page, when a copy first writes other bytes of
// it. A signal interrupts their sleep.
#pragma once

#include "host_memory.h"
#include <condition_variable>
#include <csignal>
#include <mutex>
#include <new>
#include <pthread.h>
#include <semaphore.h>
#include <shared_mutex>
#include <threads.h>
#include <unistd.h>

struct beside {
    int result[64];
    std::mutex mutex;
    mtx_t c_mutex;
    std::shared_timed_mutex readers;
    std::mutex with_ready;
    std::condition_variable ready;
    sem_t semaphore, timed;
    pthread_barrier_t barrier;
    bool is_ready;
};

static beside *page;
static int awake; // atomic

static void *in_mutex(void *)
{
    page->mutex.lock();
    page->mutex.unlock();
    return nullptr;
}
static void *in_c_mutex(void *)
{
    mtx_lock(&page->c_mutex);
    mtx_unlock(&page->c_mutex);
    return nullptr;
}
static void *in_read_lock(void *)
{
    page->readers.lock_shared();
    page->readers.unlock_shared();
    return nullptr;
}
static void *in_condition(void *)
{
    std::unique_lock<std::mutex> lock(page->with_ready);
    page->ready.wait(lock, [] { return page->is_ready; });
    return nullptr;
}
static void *in_semaphore(void *)
{
    while (sem_wait(&page->semaphore) != 0)
        ;
    return nullptr;
}
static void *in_timed_semaphore(void *)
{
    timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += 100;
    while (sem_timedwait(&page->timed, &until) != 0)
        ;
    return nullptr;
}
static void *in_barrier(void *)
{
    pthread_barrier_wait(&page->barrier);
    return nullptr;
}

int main()
{
    void *(*const sleeps[])(void *) = {in_mutex,     in_c_mutex,         in_read_lock, in_condition,
                                       in_semaphore, in_timed_semaphore, in_barrier};
    enum { THREADS = sizeof sleeps / sizeof *sleeps };
    pthread_t threads[THREADS];
    struct sigaction action = {};
    action.sa_handler = [](int) { __atomic_fetch_add(&awake, 1, __ATOMIC_RELAXED); };
    action.sa_flags = SA_RESTART;
    sigaction(SIGUSR1, &action, nullptr);

    page = new (pinned_memory()) beside;
    mtx_init(&page->c_mutex, mtx_plain);
    sem_init(&page->semaphore, 0, 0);
    sem_init(&page->timed, 0, 0);
    pthread_barrier_init(&page->barrier, nullptr, 2);
    int *device = device_array<int>(HOST_N);
    cudaStream_t stream = nonblocking_stream();
    CHECK(cudaDeviceSynchronize());

    page->mutex.lock();
    mtx_lock(&page->c_mutex);
    page->readers.lock();
    for (int i = 0; i < THREADS; i++)
        pthread_create(&threads[i], nullptr, sleeps[i], nullptr);
    usleep(100000);
    CHECK(
        cudaMemcpyAsync(page->result, device, sizeof page->result, cudaMemcpyDeviceToHost, stream));
    for (int i = 0; i < THREADS; i++)
        pthread_kill(threads[i], SIGUSR1);
    while (__atomic_load_n(&awake, __ATOMIC_RELAXED) < THREADS)
        usleep(1000);
    usleep(100000);
    CHECK(cudaStreamSynchronize(stream));

    page->mutex.unlock();
    mtx_unlock(&page->c_mutex);
    page->readers.unlock();
    page->with_ready.lock();
    page->is_ready = true;
    page->with_ready.unlock();
    page->ready.notify_one();
    sem_post(&page->semaphore);
    sem_post(&page->timed);
    pthread_barrier_wait(&page->barrier);
    for (pthread_t thread : threads)
        pthread_join(thread, nullptr);
    return finish();
}
