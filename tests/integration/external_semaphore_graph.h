// A graph whose kernel is followed by a signal, and one whose kernel comes after a wait: for the
// same semaphore, or for the OTHER. The nodes and what is made of them are given other values
// first.
#include "external_semaphore.h"

static cudaGraphNode_t kernel_node(cudaGraph_t graph, const cudaGraphNode_t *after, int *p)
{
    cudaKernelNodeParams params = {};
    cudaGraphNode_t node;
    int value = 1, count = N;
    void *arguments[] = {&p, &value, &count};
    params.func = (void *)fill;
    params.gridDim = dim3(GRID);
    params.blockDim = dim3(BLOCK);
    params.kernelParams = arguments;
    CHECK(cudaGraphAddKernelNode(&node, graph, after, after ? 1 : 0, &params));
    return node;
}

int main()
{
    const cudaStream_t a = nonblocking_stream(), b = nonblocking_stream();
    const Timeline timelines[] = {timeline_make(), timeline_make()};
    cudaExternalSemaphore_t signalled = timelines[0].handle, waited = timelines[OTHER].handle;
    *timelines[1].value = 2;
    int *p = device_array<int>(N);
    cudaGraph_t first, second;
    CHECK(cudaGraphCreate(&first, 0));
    CHECK(cudaGraphCreate(&second, 0));

    cudaExternalSemaphoreSignalParams signal = {};
    signal.params.fence.value = 7;
    cudaExternalSemaphoreSignalNodeParams signals = {&signalled, &signal, 1};
    cudaGraphNode_t kernel = kernel_node(first, nullptr, p), signal_node, node;
    CHECK(cudaGraphAddExternalSemaphoresSignalNode(&signal_node, first, &kernel, 1, &signals));
    signal.params.fence.value = 2;
    CHECK(cudaGraphExternalSemaphoresSignalNodeSetParams(signal_node, &signals));

    cudaExternalSemaphoreWaitParams wait = {};
    wait.params.fence.value = 7;
    cudaExternalSemaphoreWaitNodeParams waits = {&waited, &wait, 1}, given = {};
    CHECK(cudaGraphAddExternalSemaphoresWaitNode(&node, second, nullptr, 0, &waits));
    wait.params.fence.value = 2;
    CHECK(cudaGraphExternalSemaphoresWaitNodeSetParams(node, &waits));
    CHECK(cudaGraphExternalSemaphoresWaitNodeGetParams(node, &given));
    if (given.numExtSems != 1 || given.extSemArray[0] != waited ||
        given.paramsArray[0].params.fence.value != 2)
        printf("the node was given something else\n");
    kernel_node(second, &node, p);

    cudaGraphExec_t run_first, run_second;
    CHECK(cudaGraphInstantiate(&run_first, first, 0));
    CHECK(cudaGraphInstantiate(&run_second, second, 0));
    CHECK(cudaGraphExecExternalSemaphoresSignalNodeSetParams(run_first, signal_node, &signals));
    CHECK(cudaGraphExecExternalSemaphoresWaitNodeSetParams(run_second, node, &waits));
    CHECK(cudaGraphLaunch(run_first, a));
    CHECK(cudaGraphLaunch(run_second, b));
    return finish();
}
