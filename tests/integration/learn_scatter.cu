// verdict: possible
// options: access=learn:learn_cache_mb=0
// expect: writing to argument\(s\) 0
// expect: is bounded \(which bytes it touches depends on data in memory\)
// expect: Overlap: 2048 bytes, 0 to 2047 of the 4096
// A kernel scatters to where an index points. Its first launches all wrote the same, so that is
// what later ones are taken to do; but the PTX says that memory decides where, and here it
// separates two streams different halves: no race is certain.
#include "program.h"

#include <unistd.h>

__global__ void scatter(int *out, const int *to)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[to[i]] = i;
}

int main()
{
    int *out = device_array<int>(), *low = device_array<int>(), *high = device_array<int>();
    cudaStream_t s = nonblocking_stream(), t = nonblocking_stream();
    launch_fill(0, low, 0, N / 2);
    launch_fill(0, high, N / 2, N / 2);
    CHECK(cudaDeviceSynchronize());
    for (int i = 0; i < 5; i++) {
        scatter<<<N / 2 / 128, 128, 0, s>>>(out, low);
        CHECK(cudaStreamSynchronize(s));
        usleep(5000); // what it touched is reported before the next is launched
    }
    scatter<<<N / 2 / 128, 128, 0, s>>>(out, low);
    scatter<<<N / 2 / 128, 128, 0, t>>>(out, high);
    CHECK(cudaGetLastError());
    return finish();
}
