// verdict: none
// An event recorded with cudaEventRecordExternal in a captured stream is a node: who waits for it
// outside comes after what was captured before it.
#include "graph.h"

int main()
{
    int *p = device_array<int>(), *q = device_array<int>();
    cudaEvent_t half = event_create();
    cudaStream_t a = nonblocking_stream(), b = nonblocking_stream();
    begin_capture(a);
    launch_fill(a, p);
    CHECK(cudaEventRecordWithFlags(half, a, cudaEventRecordExternal));
    launch_fill(a, q);
    cudaGraphExec_t exec = instantiate(end_capture(a));
    CHECK(cudaGraphLaunch(exec, a));
    CHECK(cudaStreamWaitEvent(b, half, 0));
    launch_increment(b, p);
    return finish();
}
