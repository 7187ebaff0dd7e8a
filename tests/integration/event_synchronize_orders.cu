// verdict: none
// The host waits for an event; what its stream was given later is not covered.
#include "program.h"

int main()
{
    int *p = device_array<int>(), *q = device_array<int>();
    cudaStream_t a = nonblocking_stream(), b = nonblocking_stream();
    cudaEvent_t e = event_create();
    launch_fill(a, p);
    CHECK(cudaEventRecord(e, a));
    launch_fill(a, q);
    CHECK(cudaEventSynchronize(e));
    launch_increment(b, p);
    return finish();
}
