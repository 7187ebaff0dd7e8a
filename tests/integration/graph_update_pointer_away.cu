// verdict: none
// After the update the graph touches other memory than before, and no longer what another stream
// uses.
#include "graph.h"

int main()
{
    int *p = device_array<int>(), *q = device_array<int>();
    cudaGraph_t graph = graph_create();
    cudaGraphNode_t node = increment_node(graph, nullptr, 0, p);
    cudaGraphExec_t exec = instantiate(graph);
    int n = N;
    void *arguments[] = {&q, &n};
    cudaKernelNodeParams params = increment_params(arguments);
    CHECK(cudaGraphExecKernelNodeSetParams(exec, node, &params));
    CHECK(cudaGraphLaunch(exec, nonblocking_stream()));
    launch_fill(nonblocking_stream(), p);
    return finish();
}
