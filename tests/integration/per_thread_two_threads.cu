// verdict: race
// flags: -default-stream per-thread
// link: -lpthread
// Compiled with a default stream per thread: two threads' default streams are two streams.
#include "program.h"
#include <pthread.h>

static int *p;

static void *work(void *)
{
    increment<<<GRID, BLOCK>>>(p, N);
    CHECK(cudaGetLastError());
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
