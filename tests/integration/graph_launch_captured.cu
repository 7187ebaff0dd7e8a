// verdict: race
// A launch that is captured runs with the outer graph: its nodes race with what is beside it there.
#include "graph.h"

int main()
{
    int *p = device_array<int>();
    cudaStream_t a = nonblocking_stream(), b = nonblocking_stream();
    begin_capture(a);
    launch_fill(a, p);
    cudaGraphExec_t inner = instantiate(end_capture(a));
    begin_capture(a);
    stream_follows(b, a);
    CHECK(cudaGraphLaunch(inner, a));
    launch_increment(b, p);
    stream_follows(a, b);
    instantiate(end_capture(a));
    return finish();
}
