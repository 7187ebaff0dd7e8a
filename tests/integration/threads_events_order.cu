// verdict: none
// options: host_order=threads
// link: -lcsan_threads
// An event orders the streams of two threads, and takes along what the first had waited for.
#include "host_threads.h"

static cudaEvent_t event;

static void *first(void *)
{
    work_and_wait();
    CHECK(cudaEventRecord(event, nonblocking_stream()));
    flag_raise();
    return nullptr;
}

static void *second(void *)
{
    flag_wait();
    cudaStream_t stream = nonblocking_stream();
    CHECK(cudaStreamWaitEvent(stream, event));
    launch_increment(stream, p);
    return nullptr;
}

int main()
{
    event = event_create();
    run_both(first, second);
    return finish();
}
