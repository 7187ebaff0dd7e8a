// verdict: none
// Nodes by hand, with edges: a fill, two branches that read it, and one behind both.
#include "graph.h"

int main()
{
    int *p = device_array<int>(), *q = device_array<int>(), *r = device_array<int>();
    cudaGraph_t graph = graph_create();
    cudaGraphNode_t first = fill_node(graph, nullptr, 0, p), branches[2];
    CHECK(cudaGraphAddMemcpyNode1D(&branches[0], graph, &first, 1, q, p, BYTES,
                                   cudaMemcpyDeviceToDevice));
    CHECK(cudaGraphAddMemcpyNode1D(&branches[1], graph, &first, 1, r, p, BYTES,
                                   cudaMemcpyDeviceToDevice));
    increment_node(graph, branches, 2, p);
    cudaStream_t a = nonblocking_stream();
    cudaGraphExec_t exec = instantiate(graph);
    for (int i = 0; i < 3; i++)
        CHECK(cudaGraphLaunch(exec, a));
    return finish();
}
