// verdict: none
// What the host wrote before the call, or a function that the host waited for, is there at the call
// and later. A copy to pageable memory and one from it in the same stream are the driver's to keep
// apart; and a graph's node reads its source when it runs.
#include "program.h"

static void fill_buffer(void *buffer)
{
    csan_host_writes(buffer, BYTES);
    memset(buffer, 1, BYTES);
}

int main()
{
    static int written[N], filled[N], bounced[N], captured[N];
    int *p = device_array<int>(), *q = device_array<int>();
    cudaStream_t a = nonblocking_stream();
    csan_host_writes(written, BYTES);
    CHECK(cudaMemcpyAsync(p, written, BYTES, cudaMemcpyHostToDevice, a));

    CHECK(cudaLaunchHostFunc(a, fill_buffer, filled));
    CHECK(cudaStreamSynchronize(a));
    CHECK(cudaMemcpyAsync(p, filled, BYTES, cudaMemcpyHostToDevice, a));

    CHECK(cudaMemcpyAsync(bounced, p, BYTES, cudaMemcpyDeviceToHost, a));
    CHECK(cudaMemcpyAsync(q, bounced, BYTES, cudaMemcpyHostToDevice, a));

    cudaGraph_t graph;
    cudaGraphExec_t exec;
    CHECK(cudaStreamBeginCapture(a, cudaStreamCaptureModeGlobal));
    CHECK(cudaLaunchHostFunc(a, fill_buffer, captured));
    CHECK(cudaMemcpyAsync(p, captured, BYTES, cudaMemcpyHostToDevice, a));
    CHECK(cudaStreamEndCapture(a, &graph));
    CHECK(cudaGraphInstantiate(&exec, graph, 0));
    CHECK(cudaGraphLaunch(exec, a));
    return finish();
}
