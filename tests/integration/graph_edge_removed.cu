// verdict: race
// cuda: 13
// An edge that was taken out again orders nothing.
#include "graph.h"

int main()
{
    int *p = device_array<int>();
    cudaGraph_t graph = graph_create();
    cudaGraphNode_t early = fill_node(graph, nullptr, 0, p);
    cudaGraphNode_t late = increment_node(graph, &early, 1, p);
    CHECK(cudaGraphRemoveDependencies(graph, &early, &late, nullptr, 1));
    CHECK(cudaGraphLaunch(instantiate(graph), nonblocking_stream()));
    return finish();
}
