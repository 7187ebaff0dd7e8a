// verdict: none
// Memory that a graph allocates and frees, used in between; launched again and again.
#include "graph.h"

int main()
{
    int *p = device_array<int>(), *own;
    cudaStream_t a = nonblocking_stream();
    begin_capture(a);
    CHECK(cudaMallocAsync((void **)&own, BYTES, a));
    launch_fill(a, own);
    launch_copy(a, p, own);
    CHECK(cudaFreeAsync(own, a));
    cudaGraphExec_t exec = instantiate(end_capture(a));
    for (int i = 0; i < 3; i++)
        CHECK(cudaGraphLaunch(exec, a));
    return finish();
}
