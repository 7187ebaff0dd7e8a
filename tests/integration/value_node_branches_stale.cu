// link: -lcuda
// ways: run run-static
// verdict: race
// Nobody clears the word: in the second launch the wait finds the value of the first.
#include "value_graph.h"

int main()
{
    int *p = device_array<int>();
    cudaStream_t a = nonblocking_stream();
    CUdeviceptr word = words();
    cudaGraph_t graph = graph_create();
    cudaGraphNode_t waited = memop_node(graph, nullptr, 0, waits(word));
    increment_node(graph, &waited, 1, p);
    cudaGraphNode_t filled = fill_node(graph, nullptr, 0, p);
    memop_node(graph, &filled, 1, writes(word));
    cudaGraphExec_t exec = instantiate(graph);
    for (int i = 0; i < 2; i++)
        CHECK(cudaGraphLaunch(exec, a));
    return finish();
}
