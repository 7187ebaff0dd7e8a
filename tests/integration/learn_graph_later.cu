// verdict: race
// options: access=learn:learn_cache_mb=0
// expect: , 1 race, 1 possible race
// expect: writing to argument\(s\) 0
// Where a kernel scatters to is data, which PTX cannot tell. Two branches of a graph were captured
// before anything was known of it, so they possibly race; launches outside of the graph taught it,
// and at the graph's launch the learned sets are told and compared: they overlap by 64 words.
#include "graph.h"

#include <unistd.h>

__global__ void scatter(int *out, const int *to, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[to[i]] = i;
}

int main()
{
    int *p = device_array<int>(2 * N), *q = device_array<int>(2 * N), *to = device_array<int>();
    cudaStream_t s = nonblocking_stream(), t = nonblocking_stream();
    launch_fill(s, to, 0, BLOCK);
    CHECK(cudaStreamSynchronize(s));
    begin_capture(s);
    stream_follows(t, s);
    scatter<<<1, BLOCK, 0, s>>>(p, to, BLOCK);
    scatter<<<1, BLOCK, 0, t>>>(p + BLOCK - 64, to, BLOCK); // as aligned as the others
    stream_follows(s, t);
    cudaGraphExec_t exec = instantiate(end_capture(s));
    for (int i = 0; i < 2; i++) {
        scatter<<<1, BLOCK, 0, s>>>(q, to, BLOCK);
        CHECK(cudaStreamSynchronize(s));
        usleep(200000); // what a GPU's launch touched is told some time after it is done
    }
    CHECK(cudaGraphLaunch(exec, s));
    CHECK(cudaStreamSynchronize(s));
    return finish();
}
