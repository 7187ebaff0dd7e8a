// verdict: race
// expect: threads_mutex_too_early.cu:{second}
// options: host_order=threads
// link: -lcsan_threads
// The first thread gives up the mutex before its work is done: what the second gets was before it.
#include "host_threads.h"

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void *first(void *)
{
    pthread_mutex_lock(&mutex);
    pthread_mutex_unlock(&mutex);
    work_and_wait();
    flag_raise();
    return nullptr;
}

static void *second(void *)
{
    flag_wait();
    pthread_mutex_lock(&mutex);
    work(); // at: second
    pthread_mutex_unlock(&mutex);
    return nullptr;
}

int main()
{
    run_both(first, second);
    return finish();
}
