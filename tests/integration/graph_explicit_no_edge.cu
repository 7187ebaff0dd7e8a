// verdict: race
// expect: graph_explicit_no_edge.cu:{fill}
// expect: graph_explicit_no_edge.cu:{copy}
// Nodes by hand: the edge between a kernel and a copy of what it writes is missing.
#include "graph.h"

int main()
{
    int *p = device_array<int>(), *q = device_array<int>();
    cudaGraph_t graph = graph_create();
    cudaGraphNode_t first, copy;
    CHECK(cudaGraphAddEmptyNode(&first, graph, nullptr, 0));
    fill_node(graph, &first, 1, p); // at: fill
    const cudaMemcpyKind kind = cudaMemcpyDeviceToDevice;
    CHECK(cudaGraphAddMemcpyNode1D(&copy, graph, &first, 1, q, p, BYTES, kind)); // at: copy
    cudaStream_t a = nonblocking_stream();
    CHECK(cudaGraphLaunch(instantiate(graph), a));
    return finish();
}
