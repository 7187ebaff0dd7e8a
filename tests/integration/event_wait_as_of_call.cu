// verdict: race
// expect: event_wait_as_of_call.cu:{late}
// A wait means the event as it was at the call; a later record does not extend it.
#include "program.h"

int main()
{
    int *p = device_array<int>(), *q = device_array<int>();
    cudaStream_t a = nonblocking_stream(), b = nonblocking_stream();
    cudaEvent_t e = event_create();
    launch_fill(a, p);
    CHECK(cudaEventRecord(e, a));
    CHECK(cudaStreamWaitEvent(b, e, 0));
    launch_fill(a, q); // at: late
    CHECK(cudaEventRecord(e, a));
    launch_increment(b, p);
    launch_increment(b, q);
    return finish();
}
