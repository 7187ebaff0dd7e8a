// verdict: none
// options: host_order=threads
// flags: -std=c++17
// link: -lcsan_threads
// The second thread sleeps at a future until the first fulfils its promise: both call futex(2).
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
    work_and_wait();
    while (!waiter || !is_asleep(waiter))
        sched_yield();
    promise.set_value(7);
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
