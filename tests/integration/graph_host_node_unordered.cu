// verdict: race
// expect: the host|a host function
// Nothing orders the host node with the copy beside it.
#include "graph.h"

static void CUDART_CB read_all(void *data)
{
    csan_host_reads(data, BYTES);
}

int main()
{
    int *p = device_array<int>(), *host;
    cudaStream_t a = nonblocking_stream();
    CHECK(cudaMallocHost((void **)&host, BYTES));
    cudaGraph_t graph = graph_create();
    cudaGraphNode_t copy, node;
    cudaHostNodeParams call = {read_all, host};
    CHECK(
        cudaGraphAddMemcpyNode1D(&copy, graph, nullptr, 0, host, p, BYTES, cudaMemcpyDeviceToHost));
    CHECK(cudaGraphAddHostNode(&node, graph, nullptr, 0, &call));
    cudaHostNodeParams found;
    CHECK(cudaGraphHostNodeGetParams(node, &found));
    if (found.fn != read_all || found.userData != host)
        return 1;
    CHECK(cudaGraphLaunch(instantiate(graph), a));
    return finish();
}
