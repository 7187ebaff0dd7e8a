// verdict: race
// options: access=learn:learn_cache_mb=0
// skip: embedded
// expect: , 1 race,
// A kernel that a graph launches and nobody else, and that writes in an order that has no simple
// shape: its nodes are traced at the graph's first launches, and known at the fourth, which a set
// of what it writes races with. The set of all the rest does not.
#include "graph.h"

#include <unistd.h>

__global__ void gray_code(int *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i ^ i >> 1] = i;
}

int main()
{
    int *p = device_array<int>(2 * N);
    cudaStream_t s = nonblocking_stream(), t = nonblocking_stream();
    CHECK(cudaStreamSynchronize(s));
    begin_capture(s);
    gray_code<<<1, BLOCK, 0, s>>>(p, BLOCK);
    cudaGraphExec_t exec = instantiate(end_capture(s));
    for (int i = 0; i < 4; i++) {
        CHECK(cudaGraphLaunch(exec, s));
        if (i == 3)
            break;
        CHECK(cudaStreamSynchronize(s));
        usleep(200000); // what a GPU's launch touched is reported some time after it is done
    }
    CHECK(cudaMemsetAsync(p + BLOCK, 0, (2 * N - BLOCK) * sizeof *p, t));
    CHECK(cudaMemsetAsync(p, 0, BLOCK * sizeof *p, t));
    CHECK(cudaDeviceSynchronize());
    return finish();
}
