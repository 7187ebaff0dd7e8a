// verdict: none
// What a graph allocates and leaves is the program's to free, in stream order.
#include "graph.h"

int main()
{
    int *own;
    cudaStream_t a = nonblocking_stream();
    begin_capture(a);
    CHECK(cudaMallocAsync((void **)&own, BYTES, a));
    launch_fill(a, own);
    cudaGraphExec_t exec = instantiate(end_capture(a));
    for (int i = 0; i < 2; i++) {
        CHECK(cudaGraphLaunch(exec, a));
        launch_increment(a, own);
        CHECK(cudaFreeAsync(own, a));
    }
    return finish();
}
