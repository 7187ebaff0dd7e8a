// link: -lcuda
// ways: run run-static
// verdict: race
// The kernel has no edge from the node that waits.
#include "value_graph.h"

int main()
{
    int *p = device_array<int>();
    cudaStream_t a = nonblocking_stream(), b = nonblocking_stream();
    CUdeviceptr word = words();
    cudaGraph_t graph = graph_create();
    memop_node(graph, nullptr, 0, waits(word));
    increment_node(graph, nullptr, 0, p);
    CHECK(cudaGraphLaunch(instantiate(graph), b));
    launch_fill(a, p);
    DRIVER_CHECK(cuStreamWriteValue32(a, word, 1, 0));
    return finish();
}
