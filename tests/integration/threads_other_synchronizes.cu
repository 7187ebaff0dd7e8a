// verdict: race
// expect: threads_other_synchronizes.cu:{last}
// options: host_order=threads
// link: -lcsan_threads
// The whole device is waited for, but by another thread.
#include "host_threads.h"

static void *wait_for_device(void *)
{
    CHECK(cudaDeviceSynchronize());
    flag_raise();
    return nullptr;
}

int main()
{
    pthread_t thread;
    p = device_array<int>();
    work();
    pthread_create(&thread, nullptr, wait_for_device, nullptr);
    flag_wait();
    work(); // at: last
    pthread_join(thread, nullptr);
    return finish();
}
