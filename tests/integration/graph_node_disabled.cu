// verdict: none
// A node that is switched off in an exec touches nothing.
#include "graph.h"

int main()
{
    int *p = device_array<int>(), *q = device_array<int>();
    cudaGraph_t graph = graph_create();
    cudaGraphNode_t node = fill_node(graph, nullptr, 0, p);
    fill_node(graph, nullptr, 0, q);
    cudaGraphExec_t exec = instantiate(graph);
    CHECK(cudaGraphNodeSetEnabled(exec, node, 0));
    CHECK(cudaGraphLaunch(exec, nonblocking_stream()));
    launch_fill(nonblocking_stream(), p);
    return finish();
}
