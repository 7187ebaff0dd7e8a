// verdict: none
// finding: out of bounds
// expect: CSAN: out of bounds: fill_far \(.*graph_far.cu:{node}\) writes 4096 bytes, [0-9]+ bytes behind the end of the 4096 bytes allocated at .*graph_far.cu:{allocated}
// own-errors: yes
// skip: gpu
// A kernel of a graph goes far behind the memory of its pointer, where there is none.
#include "graph.h"

__global__ void fill_far(int *p, long at, int value)
{
    p[at + blockIdx.x * blockDim.x + threadIdx.x] = value;
}

int main()
{
    int *p = nullptr;
    cudaStream_t a = nonblocking_stream();
    CHECK(cudaMalloc(&p, BYTES)); // at: allocated
    begin_capture(a);
    fill_far<<<GRID, BLOCK, 0, a>>>(p, 1l << 40, 1); // at: node
    CHECK(cudaGraphLaunch(instantiate(end_capture(a)), a));
    cudaStreamSynchronize(a);
    printf("done\n");
    return 0;
}
