// verdict: none
// Which bytes of a graph's own memory a kernel reads depends on data: not those of the block beside
// it, which the graph has freed before.
#include "graph.h"

__global__ void gather(int *out, const int *table, const int *index, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = table[index[i]];
}

int main()
{
    int *out = device_array<int>(), *index = device_array<int>(), *first, *table;
    cudaStream_t a = nonblocking_stream();
    begin_capture(a);
    CHECK(cudaMallocAsync((void **)&table, BYTES, a));
    CHECK(cudaMallocAsync((void **)&first, BYTES, a));
    launch_fill(a, first);
    launch_fill(a, table);
    launch_fill(a, index, 0);
    CHECK(cudaFreeAsync(first, a));
    gather<<<GRID, BLOCK, 0, a>>>(out, table, index, N);
    CHECK(cudaFreeAsync(table, a));
    cudaGraphExec_t exec = instantiate(end_capture(a));
    CHECK(cudaGraphLaunch(exec, a));
    CHECK(cudaGraphLaunch(exec, a));
    return finish();
}
