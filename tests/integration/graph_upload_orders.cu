// verdict: none
// An upload is behind the earlier launches of its graph, and so is what comes after it in its
// stream.
#include "graph.h"

int main()
{
    int *p = device_array<int>();
    cudaStream_t a = nonblocking_stream(), b = nonblocking_stream();
    begin_capture(a);
    launch_fill(a, p);
    cudaGraphExec_t exec = instantiate(end_capture(a));
    CHECK(cudaGraphUpload(exec, b));
    CHECK(cudaGraphLaunch(exec, a));
    CHECK(cudaGraphUpload(exec, b));
    launch_increment(b, p);
    return finish();
}
