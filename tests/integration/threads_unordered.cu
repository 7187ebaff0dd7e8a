// verdict: race
// expect: threads_unordered.cu:{launch}
// link: -lpthread
// Two host threads, a stream each, one array.
#include "program.h"
#include <pthread.h>

static int *p;

static void *work(void *)
{
    launch_increment(nonblocking_stream(), p); // at: launch
    return nullptr;
}

int main()
{
    p = device_array<int>();
    pthread_t threads[2];
    for (pthread_t &thread : threads)
        pthread_create(&thread, nullptr, work, nullptr);
    for (pthread_t &thread : threads)
        pthread_join(thread, nullptr);
    return finish();
}
