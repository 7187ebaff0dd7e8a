// verdict: none
// options: host_order=threads
// link: -lcsan_threads
// std::thread, std::mutex, std::condition_variable and std::call_once do what pthread does.
#include "host_threads.h"

#include <condition_variable>
#include <mutex>
#include <thread>

static std::mutex mutex;
static std::condition_variable condition;
static std::once_flag once;
static bool ready;

static void first()
{
    work_and_wait();
    std::lock_guard<std::mutex> held(mutex);
    ready = true;
    condition.notify_one();
}

static void second()
{
    std::unique_lock<std::mutex> held(mutex);
    condition.wait(held, [] { return ready; });
    std::call_once(once, work_and_wait);
}

int main()
{
    p = device_array<int>();
    std::thread a(first), b(second);
    a.join();
    b.join();
    std::call_once(once, work_and_wait);
    work();
    return finish();
}
