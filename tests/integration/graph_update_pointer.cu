// verdict: race
// expect: graph_update_pointer.cu:{update}
// A kernel node that gets another pointer touches other memory: the update makes a race inside the
// graph, and the report names the update.
#include "graph.h"

int main()
{
    int *p = device_array<int>(), *q = device_array<int>();
    cudaGraph_t graph = graph_create();
    fill_node(graph, nullptr, 0, p);
    cudaGraphNode_t other = increment_node(graph, nullptr, 0, q);
    cudaGraphExec_t exec = instantiate(graph);
    cudaStream_t a = nonblocking_stream();
    CHECK(cudaGraphLaunch(exec, a));
    int n = N;
    void *arguments[] = {&p, &n};
    cudaKernelNodeParams params = increment_params(arguments);
    CHECK(cudaGraphExecKernelNodeSetParams(exec, other, &params)); // at: update
    CHECK(cudaGraphLaunch(exec, a));
    return finish();
}
