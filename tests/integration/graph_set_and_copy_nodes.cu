// verdict: race
// expect: graph_set_and_copy_nodes.cu:{set}
// expect: graph_set_and_copy_nodes.cu:{copy}
// Set and copy nodes are known exactly: the halves are disjoint but for one int.
#include "graph.h"

int main()
{
    int *p = device_array<int>(), *q = device_array<int>();
    cudaGraph_t graph = graph_create();
    cudaGraphNode_t set, copy;
    cudaMemsetParams params = {};
    params.dst = p;
    params.elementSize = 4;
    params.width = N / 2 + 1;
    params.height = 1;
    CHECK(cudaGraphAddMemsetNode(&set, graph, nullptr, 0, &params)); // at: set
    int *half = p + N / 2;
    const cudaMemcpyKind kind = cudaMemcpyDeviceToDevice;
    CHECK(cudaGraphAddMemcpyNode1D(&copy, graph, nullptr, 0, half, q, 64, kind)); // at: copy
    instantiate(graph);
    return finish();
}
