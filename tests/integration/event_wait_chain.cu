// verdict: none
// Order is handed on: a to b, b to c.
#include "program.h"

int main()
{
    int *p = device_array<int>(), *other = device_array<int>();
    cudaStream_t a = nonblocking_stream(), b = nonblocking_stream(), c = nonblocking_stream();
    cudaEvent_t e = event_create(), f = event_create();
    launch_fill(a, p);
    CHECK(cudaEventRecord(e, a));
    CHECK(cudaStreamWaitEvent(b, e, 0));
    launch_fill(b, other);
    CHECK(cudaEventRecord(f, b));
    CHECK(cudaStreamWaitEvent(c, f, 0));
    launch_increment(c, p);
    return finish();
}
