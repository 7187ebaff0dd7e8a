// verdict: race
// expect: graph_memory_freed_early.cu:{use}
// One branch frees what another still uses.
#include "graph.h"

int main()
{
    int *own;
    cudaStream_t a = nonblocking_stream(), b = nonblocking_stream();
    begin_capture(a);
    CHECK(cudaMallocAsync((void **)&own, BYTES, a));
    stream_follows(b, a);
    launch_fill(b, own); // at: use
    CHECK(cudaFreeAsync(own, a));
    stream_follows(a, b);
    instantiate(end_capture(a));
    return finish();
}
