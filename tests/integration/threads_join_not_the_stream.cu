// verdict: race
// expect: threads_join_not_the_stream.cu:{last}
// options: host_order=threads
// link: -lcsan_threads
// A thread that is joined without having waited for its stream has handed over nothing.
#include "host_threads.h"

static void *before(void *)
{
    work();
    return nullptr;
}

int main()
{
    pthread_t thread;
    p = device_array<int>();
    pthread_create(&thread, nullptr, before, nullptr);
    pthread_join(thread, nullptr);
    work(); // at: last
    return finish();
}
