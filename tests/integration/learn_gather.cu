// verdict: none
// options: access=learn:learn_cache_mb=0
// expect: learning: [0-9]+ launches known from earlier ones, [1-9][0-9]* bounded by them
// A kernel gathers through indices that move on after the third launch. Learning takes it for known
// after the second, finds out at the fourth, and bounds it from then on.
#include "program.h"

#include <unistd.h>

__global__ void gather(int *out, const int *in, const int *at, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = in[at[i]];
}

int main(int argc, char **argv)
{
    // The first launches of a second process may have other indices than the last ones of the
    // first.
    int launches = argc > 1 ? atoi(argv[1]) : 12, moves = argc > 2 ? atoi(argv[2]) : 3;
    int *out = device_array<int>(), *in = device_array<int>(), *at = device_array<int>();
    cudaStream_t stream = nonblocking_stream();
    CHECK(cudaMemsetAsync(in, 0, N * sizeof *in, stream));
    for (int i = 0; i < launches; i++) {
        launch_fill(stream, at, i < moves ? 0 : i * 8, N / 4);
        gather<<<1, 128, 0, stream>>>(out, in, at, 128);
        CHECK(cudaStreamSynchronize(stream));
        usleep(5000); // what it touched is reported before the next is launched
    }
    CHECK(cudaGetLastError());
    return finish();
}
