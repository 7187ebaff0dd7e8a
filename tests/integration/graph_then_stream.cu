// verdict: none
// A graph's launch is work of its stream: what comes later there, and what waits for an event,
// comes after all its nodes.
#include "graph.h"

int main()
{
    int *p = device_array<int>();
    cudaStream_t a = nonblocking_stream(), b = nonblocking_stream();
    begin_capture(a);
    launch_fill(a, p);
    cudaGraphExec_t exec = instantiate(end_capture(a));
    launch_fill(b, p);
    stream_follows(a, b);
    CHECK(cudaGraphLaunch(exec, a));
    launch_increment(a, p);
    stream_follows(b, a);
    launch_increment(b, p);
    CHECK(cudaGraphLaunch(exec, b));
    CHECK(cudaStreamSynchronize(b));
    launch_fill(a, p);
    return finish();
}
