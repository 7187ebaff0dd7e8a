// verdict: none
// Launches of one exec never overlap, whatever streams they are in (cuGraphLaunch: each launch "is
// ordered behind both previous work in hStream and any previous launches of hGraphExec").
#include "graph.h"

int main()
{
    int *p = device_array<int>();
    cudaStream_t a = nonblocking_stream(), b = nonblocking_stream();
    begin_capture(a);
    launch_increment(a, p);
    cudaGraphExec_t exec = instantiate(end_capture(a));
    CHECK(cudaGraphLaunch(exec, a));
    CHECK(cudaGraphLaunch(exec, b));
    CHECK(cudaGraphLaunch(exec, a));
    return finish();
}
