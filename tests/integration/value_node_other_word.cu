// link: -lcuda
// ways: run run-static
// verdict: race
// The branches use different words; another stream writes the one that is waited for.
#include "value_graph.h"

int main()
{
    int *p = device_array<int>();
    cudaStream_t a = nonblocking_stream();
    CUdeviceptr word = words();
    cudaGraph_t graph = graph_create();
    cudaStream_t b = nonblocking_stream();
    cudaGraphNode_t waited = memop_node(graph, nullptr, 0, waits(word));
    increment_node(graph, &waited, 1, p);
    cudaGraphNode_t filled = fill_node(graph, nullptr, 0, p);
    memop_node(graph, &filled, 1, writes(word + 8));
    CHECK(cudaGraphLaunch(instantiate(graph), a));
    DRIVER_CHECK(cuStreamWriteValue32(b, word, 1, 0));
    return finish();
}
