// verdict: race
// An event covers what its stream was given before the record, not after.
#include "program.h"

int main()
{
    int *p = device_array<int>();
    cudaStream_t a = nonblocking_stream(), b = nonblocking_stream();
    cudaEvent_t e = event_create();
    CHECK(cudaEventRecord(e, a));
    launch_fill(a, p);
    CHECK(cudaStreamWaitEvent(b, e, 0));
    launch_increment(b, p);
    return finish();
}
