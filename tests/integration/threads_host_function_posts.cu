// verdict: none
// options: host_order=threads
// link: -lcsan_threads
// A host function wakes a thread, which goes on with what its stream did before.
#include "host_threads.h"

#include <semaphore.h>

static sem_t semaphore;

static void CUDART_CB post(void *)
{
    sem_post(&semaphore);
}

static void *first(void *)
{
    cudaStream_t stream = nonblocking_stream();
    launch_increment(stream, p);
    CHECK(cudaLaunchHostFunc(stream, post, nullptr));
    return nullptr;
}

static void *second(void *)
{
    sem_wait(&semaphore);
    work();
    return nullptr;
}

int main()
{
    sem_init(&semaphore, 0, 0);
    run_both(first, second);
    CHECK(cudaDeviceSynchronize());
    sem_destroy(&semaphore);
    return finish();
}
