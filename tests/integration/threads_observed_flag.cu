// verdict: none
// options: host_order=observed
// The same as threads_unseen_flag: all threads share the order in which their calls reach csan.
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
    work();
    return nullptr;
}

int main()
{
    run_both(first, second);
    return finish();
}
