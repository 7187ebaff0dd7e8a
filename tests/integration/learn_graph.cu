// verdict: race
// options: access=learn:learn_cache_mb=0
// expect: writing to argument\(s\) 0
// expect: learning: [1-9][0-9]* launches known from earlier ones
// expect: Race 1 is certain, if what was learned holds: .* is learned .* is learned
// expect: Overlap: 256 bytes, 256 to 511 of the 8192
// A kernel writes in an order that has no simple shape, so PTX gives a range around it. Two
// launches outside of any graph taught it; two captured ones on branches that do not meet have the
// learned sets: they overlap by 64 words.
#include "program.h"

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
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    cudaEvent_t fork = event_create(), join = event_create();
    for (int i = 0; i < 2; i++)
        gray_code<<<1, BLOCK, 0, s>>>(q, BLOCK);
    CHECK(cudaStreamSynchronize(s));
    usleep(200000); // what a GPU's launch touched is reported some time after it is done
    CHECK(cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal));
    CHECK(cudaEventRecord(fork, s));
    CHECK(cudaStreamWaitEvent(t, fork, 0));
    gray_code<<<1, BLOCK, 0, s>>>(p, BLOCK);
    gray_code<<<1, BLOCK, 0, t>>>(p + BLOCK - 64, BLOCK); // as aligned as the others
    CHECK(cudaEventRecord(join, t));
    CHECK(cudaStreamWaitEvent(s, join, 0));
    CHECK(cudaStreamEndCapture(s, &graph));
    CHECK(cudaGraphInstantiate(&exec, graph, 0));
    CHECK(cudaGraphLaunch(exec, s));
    CHECK(cudaStreamSynchronize(s));
    return finish();
}
