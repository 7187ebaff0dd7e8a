// verdict: race
// A new event with an old event's handle was never recorded.
#include "program.h"

int main()
{
    int *p = device_array<int>();
    cudaStream_t a = nonblocking_stream(), b = nonblocking_stream();
    cudaEvent_t e = event_create();
    launch_fill(a, p);
    CHECK(cudaEventRecord(e, a));
    CHECK(cudaEventDestroy(e));
    e = event_create();
    CHECK(cudaStreamWaitEvent(b, e, 0));
    launch_increment(b, p);
    return finish();
}
