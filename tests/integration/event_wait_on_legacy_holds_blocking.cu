// verdict: none
// A wait in the legacy stream holds the later work of all blocking streams.
#include "program.h"

int main()
{
    int *p = device_array<int>();
    cudaStream_t a = nonblocking_stream(), b = blocking_stream();
    cudaEvent_t e = event_create();
    launch_fill(a, p);
    CHECK(cudaEventRecord(e, a));
    CHECK(cudaStreamWaitEvent(0, e, 0));
    launch_increment(b, p);
    return finish();
}
