// verdict: race
// expect: graph_child_unordered.cu:{inner}
// expect: graph_child_unordered.cu:{outer}
// A node beside a child graph touches what a node in the child graph writes. The report names the
// inner node by the call that added it to the child graph.
#include "graph.h"

int main()
{
    int *p = device_array<int>();
    cudaGraph_t graph = graph_create(), child = graph_create();
    cudaGraphNode_t node;
    fill_node(child, nullptr, 0, p); // at: inner
    CHECK(cudaGraphAddChildGraphNode(&node, graph, nullptr, 0, child));
    increment_node(graph, nullptr, 0, p); // at: outer
    instantiate(graph);
    return finish();
}
