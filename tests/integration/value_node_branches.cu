// link: -lcuda
// ways: run run-static
// verdict: none
// Two branches of a graph are ordered by a word, which each launch clears first.
#include "value_graph.h"

int main()
{
    int *p = device_array<int>();
    cudaStream_t a = nonblocking_stream();
    CUdeviceptr word = words();
    cudaGraph_t graph = graph_create();
    cudaGraphNode_t cleared = clear_node(graph, word);
    cudaGraphNode_t waited = memop_node(graph, &cleared, 1, waits(word));
    increment_node(graph, &waited, 1, p);
    cudaGraphNode_t filled = fill_node(graph, &cleared, 1, p);
    memop_node(graph, &filled, 1, writes(word));
    cudaGraphExec_t exec = instantiate(graph);
    for (int i = 0; i < 3; i++)
        CHECK(cudaGraphLaunch(exec, a));
    return finish();
}
