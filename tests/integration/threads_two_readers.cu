// verdict: race
// expect: threads_two_readers.cu:{second}
// options: host_order=threads
// link: -lcsan_threads
// A read-write lock orders no reader after another.
#include "host_threads.h"

static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;

static void *first(void *)
{
    pthread_rwlock_rdlock(&lock);
    work_and_wait();
    pthread_rwlock_unlock(&lock);
    flag_raise();
    return nullptr;
}

static void *second(void *)
{
    flag_wait();
    pthread_rwlock_rdlock(&lock);
    work(); // at: second
    pthread_rwlock_unlock(&lock);
    return nullptr;
}

int main()
{
    run_both(first, second);
    return finish();
}
