// verdict: none
// A child graph's nodes come after what its node waits for, and before what waits for it.
#include "graph.h"

int main()
{
    int *p = device_array<int>();
    cudaGraph_t graph = graph_create(), child = graph_create();
    cudaGraphNode_t inner = increment_node(child, nullptr, 0, p), node;
    increment_node(child, &inner, 1, p);
    cudaGraphNode_t first = fill_node(graph, nullptr, 0, p);
    CHECK(cudaGraphAddChildGraphNode(&node, graph, &first, 1, child));
    CHECK(cudaGraphDestroy(child));
    increment_node(graph, &node, 1, p);
    CHECK(cudaGraphLaunch(instantiate(graph), nonblocking_stream()));
    return finish();
}
