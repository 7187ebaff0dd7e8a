// verdict: none
// options: host_order=threads
// link: -lcsan_threads
// The order that the flag makes is declared.
#include "host_threads.h"

static void *first(void *)
{
    work_and_wait();
    csan_host_happens_before(&unseen);
    flag_raise();
    return nullptr;
}

static void *second(void *)
{
    flag_wait();
    csan_host_happens_after(&unseen);
    work();
    return nullptr;
}

int main()
{
    run_both(first, second);
    return finish();
}
