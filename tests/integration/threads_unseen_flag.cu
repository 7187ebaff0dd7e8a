// verdict: race
// expect: threads_unseen_flag.cu:{second}
// options: host_order=threads
// link: -lcsan_threads
// The second thread waits for the first by a flag of its own, which orders nothing that csan sees.
#include "host_threads.h"

static void *first(void *)
{
    work_and_wait();
    flag_raise();
    return nullptr;
}

static void *second(void *)
{
    flag_wait();
    work(); // at: second
    return nullptr;
}

int main()
{
    run_both(first, second);
    return finish();
}
