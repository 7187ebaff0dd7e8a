// A thread works and fulfils a promise, which another sleeps for; or the promise first: EARLY.
#pragma once

#include "host_threads.h"

#include <future>
#include <thread>
#include <unistd.h>

static std::promise<int> promise;
static std::atomic<int> waiter;

static bool is_asleep(int thread)
{
    char path[64], state = 0;
    snprintf(path, sizeof path, "/proc/self/task/%d/stat", thread);
    FILE *file = fopen(path, "r");
    const bool read = file && fscanf(file, "%*d (%*[^)]) %c", &state) == 1;
    if (file)
        fclose(file);
    return read && state == 'S';
}

static void first()
{
    if (!EARLY)
        work_and_wait();
    while (!waiter || !is_asleep(waiter))
        sched_yield();
    promise.set_value(7);
    if (EARLY)
        work_and_wait();
}

static void second()
{
    waiter = gettid();
    if (promise.get_future().get() == 7)
        work();
}

int main()
{
    p = device_array<int>();
    std::thread a(first), b(second);
    a.join();
    b.join();
    return finish();
}
