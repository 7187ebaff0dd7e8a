// verdict: none
// options: host_order=threads
// link: -lcsan_threads
// A semaphore.
#include "host_threads.h"

#include <semaphore.h>

static sem_t semaphore;

static void *first(void *)
{
    work_and_wait();
    sem_post(&semaphore);
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
    sem_destroy(&semaphore);
    return finish();
}
