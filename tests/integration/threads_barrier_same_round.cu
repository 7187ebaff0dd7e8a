// verdict: race
// expect: threads_barrier_same_round.cu:{second}
// options: host_order=threads
// link: -lcsan_threads
// Both work in the same round of a barrier, one after the other only by a flag.
#include "host_threads.h"

static pthread_barrier_t barrier;

static void *first(void *)
{
    pthread_barrier_wait(&barrier);
    work_and_wait();
    flag_raise();
    pthread_barrier_wait(&barrier);
    return nullptr;
}

static void *second(void *)
{
    pthread_barrier_wait(&barrier);
    flag_wait();
    work(); // at: second
    pthread_barrier_wait(&barrier);
    return nullptr;
}

int main()
{
    pthread_barrier_init(&barrier, nullptr, 2);
    run_both(first, second);
    pthread_barrier_destroy(&barrier);
    return finish();
}
