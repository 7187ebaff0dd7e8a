// verdict: possible
// gpu: possible
// flags: -rdc=true
// cuda: 13
// expect: possible data race: copy \(.*\) does not wait for add_to, in the graph's launch
// The body of a loop is captured into its graph, and the capture's end does not ask for that graph
// again (cuda-samples, graphConditionalNodes). Another stream reads what the body writes.
#include "graph_conditional.h"

__global__ void count_down(cudaGraphConditionalHandle handle, int *left)
{
    cudaGraphSetConditional(handle, --*left > 0);
}

int main()
{
    int *p = device_array<int>(), *out = device_array<int>(), *left = device_array<int>(1);
    cudaGraph_t graph, body;
    cudaGraphConditionalHandle handle;
    cudaGraphExec_t exec;
    cudaStream_t a = nonblocking_stream(), b = nonblocking_stream(), c = nonblocking_stream();
    fill<<<1, 1>>>(left, 3, 1);
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaGraphCreate(&graph, 0));
    CHECK(cudaGraphConditionalHandleCreate(&handle, graph, 1, cudaGraphCondAssignDefault));
    add_conditional(graph, nullptr, handle, cudaGraphCondTypeWhile, &body);
    CHECK(
        cudaStreamBeginCaptureToGraph(c, body, nullptr, nullptr, 0, cudaStreamCaptureModeRelaxed));
    add_to<<<GRID, BLOCK, 0, c>>>(p, N, 1);
    count_down<<<1, 1, 0, c>>>(handle, left);
    CHECK(cudaStreamEndCapture(c, nullptr));
    CHECK(cudaGraphInstantiate(&exec, graph, 0));
    CHECK(cudaGraphLaunch(exec, a));
    launch_copy(b, out, p);
    return finish();
}
