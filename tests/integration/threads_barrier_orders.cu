// verdict: none
// options: host_order=threads
// link: -lcsan_threads
// A barrier, three rounds of it: each thread works in its own round.
#include "host_threads.h"

static pthread_barrier_t barrier;

static void *first(void *)
{
    work_and_wait();
    pthread_barrier_wait(&barrier);
    pthread_barrier_wait(&barrier);
    work_and_wait();
    pthread_barrier_wait(&barrier);
    return nullptr;
}

static void *second(void *)
{
    pthread_barrier_wait(&barrier);
    work_and_wait();
    pthread_barrier_wait(&barrier);
    pthread_barrier_wait(&barrier);
    work();
    return nullptr;
}

int main()
{
    pthread_barrier_init(&barrier, nullptr, 2);
    run_both(first, second);
    pthread_barrier_destroy(&barrier);
    return finish();
}
