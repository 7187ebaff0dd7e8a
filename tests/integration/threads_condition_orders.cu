// verdict: none
// options: host_order=threads
// link: -lcsan_threads
// A condition variable: the second thread gets the mutex back inside its wait.
#include "host_threads.h"

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static bool ready, waiting;

static void *first(void *)
{
    for (bool theirs = false; !theirs; sched_yield()) {
        pthread_mutex_lock(&mutex);
        theirs = waiting;
        pthread_mutex_unlock(&mutex);
    }
    work_and_wait();
    pthread_mutex_lock(&mutex);
    ready = true;
    pthread_cond_signal(&condition);
    pthread_mutex_unlock(&mutex);
    return nullptr;
}

static void *second(void *)
{
    pthread_mutex_lock(&mutex);
    waiting = true;
    while (!ready)
        pthread_cond_wait(&condition, &mutex);
    work();
    pthread_mutex_unlock(&mutex);
    return nullptr;
}

int main()
{
    run_both(first, second);
    return finish();
}
