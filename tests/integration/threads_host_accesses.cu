// verdict: race
// expect: threads_host_accesses.cu:{second}
// expect: by host thread
// expect: Fix: let host thread 3 wait for host thread 2, by a mutex or by joining it
// options: host_order=threads
// link: -lcsan_threads
// Two threads touch pinned memory themselves.
#include "host_threads.h"

static int *pinned;

static void *first(void *)
{
    csan_host_writes(pinned, sizeof *pinned);
    flag_raise();
    return nullptr;
}

static void *second(void *)
{
    flag_wait();
    csan_host_reads(pinned, sizeof *pinned); // at: second
    return nullptr;
}

int main()
{
    CHECK(cudaMallocHost((void **)&pinned, sizeof *pinned));
    run_both(first, second);
    return finish();
}
