// verdict: none
// cuda: 13
// An edge counts however it was made: cudaGraphAddDependencies.
#include "graph.h"

int main()
{
    int *p = device_array<int>();
    cudaGraph_t graph = graph_create();
    cudaGraphNode_t late = increment_node(graph, nullptr, 0, p);
    cudaGraphNode_t early = fill_node(graph, nullptr, 0, p);
    CHECK(cudaGraphAddDependencies(graph, &early, &late, nullptr, 1));
    CHECK(cudaGraphLaunch(instantiate(graph), nonblocking_stream()));
    return finish();
}
