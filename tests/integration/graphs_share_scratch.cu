// verdict: race
// expect: are of two executables of one graph
// expect: Fix: record an event on .* after the graph's launch \(.*graphs_share_scratch.cu:{one}\), make .* wait for it before the graph's launch \(.*graphs_share_scratch.cu:{other}\)
// Two executables of one graph, launched in two streams, share scratch memory.
#include "graph.h"

int main()
{
    int *scratch = device_array<int>();
    CHECK(cudaMemset(scratch, 0, BYTES));
    CHECK(cudaDeviceSynchronize());
    cudaStream_t a = nonblocking_stream(), b = nonblocking_stream();
    begin_capture(a);
    launch_increment(a, scratch);
    cudaGraph_t graph = end_capture(a);
    cudaGraphExec_t one = instantiate(graph), other = instantiate(graph);
    CHECK(cudaGraphLaunch(one, a));   // at: one
    CHECK(cudaGraphLaunch(other, b)); // at: other
    return finish();
}
