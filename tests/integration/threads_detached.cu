// verdict: race
// expect: threads_detached.cu:{last}
// options: host_order=threads
// link: -lcsan_threads
// Detached threads, at their creation and later: what created them is before them, and nothing is
// after them. A thousand come and go.
#include "host_threads.h"

static void *after_main(void *)
{
    work_and_wait();
    flag_raise();
    return nullptr;
}

int main()
{
    pthread_t thread;
    pthread_attr_t attributes;
    p = device_array<int>();
    work_and_wait();
    pthread_create(&thread, nullptr, after_main, nullptr);
    pthread_detach(thread);
    flag_wait();
    work(); // at: last
    CHECK(cudaDeviceSynchronize());
    pthread_attr_init(&attributes);
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    for (int i = 0; i < 1000; i++)
        if (pthread_create(
                &thread, i % 2 ? &attributes : nullptr, [](void *) -> void * { return nullptr; },
                nullptr) == 0 &&
            i % 2 == 0)
            pthread_join(thread, nullptr);
    return finish();
}
