// verdict: race
// expect: Fix: make .* wait for the event recorded on .*graph_input_overwritten.cu:{consumed}\) before cu(da)?Memcpy(HtoD)?Async \(.*graph_input_overwritten.cu:{copy}\)
// A captured graph reads its input while the next one is copied over it. An event that is there
// already would do.
#include "graph.h"

int main()
{
    enum { BATCHES = 4 };
    int *in = device_array<int>(), *out = device_array<int>(), *host;
    CHECK(cudaMallocHost((void **)&host, BATCHES * BYTES));
    memset(host, 0, BATCHES * BYTES);
    cudaStream_t run = nonblocking_stream(), copies = nonblocking_stream();
    cudaEvent_t filled = event_create(), consumed = event_create();
    begin_capture(run);
    launch_copy(run, out, in);
    cudaGraphExec_t exec = instantiate(end_capture(run));
    for (int i = 0; i < BATCHES; i++) {
        CHECK(cudaMemcpyAsync(in, host + i * N, BYTES, cudaMemcpyHostToDevice, copies)); // at: copy
        CHECK(cudaEventRecord(filled, copies));
        CHECK(cudaStreamWaitEvent(run, filled, 0));
        CHECK(cudaGraphLaunch(exec, run));
        CHECK(cudaEventRecord(consumed, run)); // at: consumed
    }
    return finish();
}
