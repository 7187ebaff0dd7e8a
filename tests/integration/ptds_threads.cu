// verdict: race
// link: -lpthread
// expect: Cause: each thread has a per-thread default stream of its own
// expect: Fix: call cudaStreamSynchronize\(cudaStreamPerThread\) after fill
// A thread fills memory in its per-thread default stream. Joining it orders the host alone.
#include "program.h"
#include <pthread.h>

static int *p;

static void *work(void *)
{
    launch_fill(cudaStreamPerThread, p);
    return nullptr;
}

int main()
{
    pthread_t thread;
    p = device_array<int>();
    pthread_create(&thread, nullptr, work, nullptr);
    pthread_join(thread, nullptr);
    launch_increment(cudaStreamPerThread, p);
    return finish();
}
