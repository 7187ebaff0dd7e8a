// verdict: none
// finding: memory that the device cannot reach
// expect: CSAN: memory that the device cannot reach: fill \(.*graph_host_pointer.cu:{node}\) writes 64 bytes of the host's memory
// own-errors: yes
// skip: gpu
// A kernel of a graph is given a pointer to the host's stack. Another one's memory is registered
// before it is launched.
#include "graph.h"

int main()
{
    int array[16], *later = (int *)aligned_alloc(4096, BYTES);
    cudaStream_t a = nonblocking_stream();
    cudaGraph_t graph = graph_create();
    cudaKernelNodeParams params = {};
    int value = 1, count = 16;
    int *p = array;
    void *arguments[] = {&p, &value, &count};
    cudaGraphNode_t node;
    params.func = (void *)fill;
    params.gridDim = dim3(1);
    params.blockDim = dim3(16);
    params.kernelParams = arguments;
    begin_capture(a);
    fill<<<GRID, BLOCK, 0, a>>>(later, 1, N);
    cudaGraphExec_t right = instantiate(end_capture(a));
    CHECK(cudaHostRegister(later, BYTES, cudaHostRegisterMapped));
    CHECK(cudaGraphLaunch(right, a));
    CHECK(cudaStreamSynchronize(a));
    CHECK(cudaGraphAddKernelNode(&node, graph, nullptr, 0, &params)); // at: node
    CHECK(cudaGraphLaunch(instantiate(graph), a));
    cudaStreamSynchronize(a);
    printf("done\n");
    return 0;
}
