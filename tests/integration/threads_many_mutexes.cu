// verdict: none
// options: host_order=threads
// link: -lcsan_threads
// A hundred thousand mutexes that nobody destroys, and one that hands the array over.
#include "host_threads.h"
#include <mutex>

static std::mutex *mutexes;

static void *first(void *)
{
    work_and_wait();
    for (int i = 0; i < 100000; i++)
        std::lock_guard<std::mutex> held(mutexes[i]);
    flag_raise();
    return nullptr;
}

static void *second(void *)
{
    flag_wait();
    mutexes[77].lock();
    mutexes[77].unlock();
    work();
    return nullptr;
}

int main()
{
    mutexes = new std::mutex[100000];
    run_both(first, second);
    return finish();
}
