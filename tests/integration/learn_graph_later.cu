// verdict: race
// options: access=learn:learn_cache_mb=0
// expect: , 1 race, 1 possible race
// expect: writing to argument\(s\) 0
// A kernel writes in an order that has no simple shape, so PTX gives a range around it. Two
// branches of a graph were captured before anything was known of it, so they possibly race;
// launches outside of the graph taught it, and at the graph's launch the learned sets are used and
// compared: they overlap by 64 words.
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
    int *p = device_array<int>(2 * N), *q = device_array<int>(2 * N);
    cudaStream_t s = nonblocking_stream(), t = nonblocking_stream();
    CHECK(cudaStreamSynchronize(s));
    begin_capture(s);
    stream_follows(t, s);
    gray_code<<<1, BLOCK, 0, s>>>(p, BLOCK);
    gray_code<<<1, BLOCK, 0, t>>>(p + BLOCK - 64, BLOCK); // as aligned as the others
    stream_follows(s, t);
    cudaGraphExec_t exec = instantiate(end_capture(s));
    for (int i = 0; i < 2; i++) {
        gray_code<<<1, BLOCK, 0, s>>>(q, BLOCK);
        CHECK(cudaStreamSynchronize(s));
        usleep(200000); // what a GPU's launch touched is reported some time after it is done
    }
    CHECK(cudaGraphLaunch(exec, s));
    CHECK(cudaStreamSynchronize(s));
    return finish();
}
