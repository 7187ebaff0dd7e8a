// verdict: race
// expect: Fix: record an event on stream [AB] after the graph's launch \(.*:{launch}\), make the host function's stream wait for it before the
// reject: dependency to the graph
// options: host=guard
// content: none
// Two graphs have a host function each that fills the same pinned buffer, which the graph then
// copies. One line launches both, into two streams. No edge of a graph orders them.
#include "program.h"

static int *staging;

static void fill_staging(void *value)
{
    for (int i = 0; i < N; i++)
        staging[i] = (int)(intptr_t)value + i;
}

int main()
{
    cudaStream_t stream[2];
    cudaGraphExec_t exec[2];
    CHECK(cudaMallocHost(&staging, BYTES));
    for (int k = 0; k < 2; k++) {
        int *p = device_array<int>();
        cudaGraph_t graph;
        stream[k] = nonblocking_stream();
        CHECK(cudaStreamBeginCapture(stream[k], cudaStreamCaptureModeGlobal));
        CHECK(cudaLaunchHostFunc(stream[k], fill_staging, (void *)(intptr_t)k));
        CHECK(cudaMemcpyAsync(p, staging, BYTES, cudaMemcpyHostToDevice, stream[k]));
        CHECK(cudaStreamEndCapture(stream[k], &graph));
        CHECK(cudaGraphInstantiate(&exec[k], graph, 0));
    }
    for (int k = 0; k < 2; k++)
        CHECK(cudaGraphLaunch(exec[k], stream[k])); // at: launch
    return finish();
}
