// verdict: none
// skip: gpu
// options: list_syncs=1
// expect: sync 1: device synchronize
// reject: sync 2
// Waits under capture are edges, and the wait that forks a stream into a capture decides where its
// work goes: none of them can be left out.
#include "graph.h"

int main()
{
    int *p = device_array<int>(), *q = device_array<int>();
    cudaStream_t a = nonblocking_stream(), b = nonblocking_stream();
    begin_capture(a);
    launch_fill(a, p);
    stream_follows(b, a);
    launch_copy(b, q, p);
    stream_follows(a, b);
    CHECK(cudaGraphLaunch(instantiate(end_capture(a)), a));
    return finish();
}
