// verdict: race
// options: access=learn:learn_cache_mb=0
// expect: writing to argument\(s\) 0
// expect: learning: [1-9][0-9]* launches known from earlier ones
// Where a kernel scatters to is data, which PTX cannot tell. Two launches outside of any graph
// taught it; two captured ones on branches that do not meet have the learned sets: they overlap by
// 64 words.
#include "program.h"

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
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    cudaEvent_t fork = event_create(), join = event_create();
    launch_fill(s, to, 0, BLOCK);
    for (int i = 0; i < 2; i++)
        scatter<<<1, BLOCK, 0, s>>>(q, to, BLOCK);
    CHECK(cudaStreamSynchronize(s));
    usleep(200000); // what a GPU's launch touched is told some time after it is done
    CHECK(cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal));
    CHECK(cudaEventRecord(fork, s));
    CHECK(cudaStreamWaitEvent(t, fork, 0));
    scatter<<<1, BLOCK, 0, s>>>(p, to, BLOCK);
    scatter<<<1, BLOCK, 0, t>>>(p + BLOCK - 64, to, BLOCK); // as aligned as the others
    CHECK(cudaEventRecord(join, t));
    CHECK(cudaStreamWaitEvent(s, join, 0));
    CHECK(cudaStreamEndCapture(s, &graph));
    CHECK(cudaGraphInstantiate(&exec, graph, 0));
    CHECK(cudaGraphLaunch(exec, s));
    CHECK(cudaStreamSynchronize(s));
    return finish();
}
