// verdict: none
// options: host_order=threads
// link: -lcsan_threads
// A mutex hands the array over; the second thread looks until it is its turn.
#include "host_threads.h"

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static bool ready;

static void *first(void *)
{
    work_and_wait();
    pthread_mutex_lock(&mutex);
    ready = true;
    pthread_mutex_unlock(&mutex);
    return nullptr;
}

static void *second(void *)
{
    for (bool mine = false; !mine; sched_yield()) {
        while (pthread_mutex_trylock(&mutex) != 0)
            sched_yield();
        mine = ready;
        pthread_mutex_unlock(&mutex);
    }
    work();
    return nullptr;
}

int main()
{
    run_both(first, second);
    return finish();
}
