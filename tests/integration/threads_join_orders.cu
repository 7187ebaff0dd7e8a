// verdict: none
// options: host_order=threads
// link: -lcsan_threads
// Creating and joining: main, then a thread, then main again.
#include "host_threads.h"

static void *between(void *)
{
    work_and_wait();
    return nullptr;
}

int main()
{
    pthread_t thread;
    p = device_array<int>();
    work_and_wait();
    pthread_create(&thread, nullptr, between, nullptr);
    pthread_join(thread, nullptr);
    work();
    return finish();
}
