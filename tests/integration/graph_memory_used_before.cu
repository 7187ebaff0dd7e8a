// verdict: race
// skip: gpu
// expect: graph_memory_used_before.cu:{use}
// What a graph allocates is there from its node on: other streams have to wait for the launch. (On
// a GPU the memory may not be mapped yet, and the kernel fail.)
#include "graph.h"

int main()
{
    cudaStream_t a = nonblocking_stream(), b = nonblocking_stream();
    cudaGraph_t graph = graph_create();
    cudaGraphNode_t node;
    cudaMemAllocNodeParams params = {};
    params.poolProps.allocType = cudaMemAllocationTypePinned;
    params.poolProps.location.type = cudaMemLocationTypeDevice;
    params.bytesize = BYTES;
    CHECK(cudaGraphAddMemAllocNode(&node, graph, nullptr, 0, &params));
    cudaGraphExec_t exec = instantiate(graph);
    CHECK(cudaGraphLaunch(exec, a));
    launch_fill(b, (int *)params.dptr); // at: use
    CHECK(cudaStreamSynchronize(b));
    CHECK(cudaFreeAsync(params.dptr, a));
    return finish();
}
