// verdict: none
// options: host_order=threads
// link: -lcsan_threads
// A read-write lock: what the writer did is before its readers.
#include "host_threads.h"

static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
static bool ready;

static void *first(void *)
{
    pthread_rwlock_wrlock(&lock);
    work_and_wait();
    ready = true;
    pthread_rwlock_unlock(&lock);
    return nullptr;
}

static void *second(void *)
{
    for (bool mine = false; !mine; sched_yield()) {
        pthread_rwlock_rdlock(&lock);
        mine = ready;
        pthread_rwlock_unlock(&lock);
    }
    work();
    return nullptr;
}

int main()
{
    run_both(first, second);
    return finish();
}
