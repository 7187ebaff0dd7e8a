// verdict: race
// A wait for an event that was never recorded is no order, also when it is recorded later.
#include "program.h"

int main()
{
    int *p = device_array<int>();
    cudaStream_t a = nonblocking_stream(), b = nonblocking_stream();
    cudaEvent_t e = event_create();
    CHECK(cudaStreamWaitEvent(b, e, 0));
    launch_fill(a, p);
    CHECK(cudaEventRecord(e, a));
    launch_increment(b, p);
    return finish();
}
