// verdict: race
// expect: graph_update_whole.cu:{second}
// cudaGraphExecUpdate: the exec does from now on what the other graph says.
#include "graph.h"

static cudaGraph_t capture_fill(cudaStream_t a, int *p)
{
    begin_capture(a);
    launch_fill(a, p);
    return end_capture(a);
}

int main()
{
    int *p = device_array<int>(), *q = device_array<int>();
    cudaStream_t a = nonblocking_stream(), b = nonblocking_stream();
    cudaGraphExec_t exec = instantiate(capture_fill(a, p));
    cudaGraph_t next = capture_fill(a, q); // at: second
    cudaGraphExecUpdateResultInfo info;
    CHECK(cudaGraphExecUpdate(exec, next, &info));
    CHECK(cudaGraphLaunch(exec, a));
    launch_fill(b, p);
    launch_increment(b, q);
    return finish();
}
