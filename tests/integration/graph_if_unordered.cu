// verdict: possible
// gpu: possible
// flags: -rdc=true
// cuda: 13
// expect: possible data race
// The body of an if writes what another stream writes at the same time, if its condition holds.
#include "graph_conditional.h"

int main()
{
    int *p = device_array<int>(), *yes = device_array<int>(1);
    cudaGraph_t graph, body;
    cudaGraphConditionalHandle handle;
    cudaGraphExec_t exec;
    cudaStream_t a = nonblocking_stream(), b = nonblocking_stream();
    int n = N, one = 1;
    fill<<<1, 1>>>(yes, 1, 1);
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaGraphCreate(&graph, 0));
    CHECK(cudaGraphConditionalHandleCreate(&handle, graph, 0, 0));
    void *choose[] = {&handle, &yes}, *add_one[] = {&p, &n, &one};
    cudaGraphNode_t chosen = add_kernel(graph, (void *)set_to, choose);
    add_conditional(graph, chosen, handle, cudaGraphCondTypeIf, &body);
    add_kernel(body, (void *)add_to, add_one, nullptr, GRID, BLOCK);
    CHECK(cudaGraphInstantiate(&exec, graph, 0));
    CHECK(cudaGraphLaunch(exec, a));
    fill<<<GRID, BLOCK, 0, b>>>(p, 1, N);
    CHECK(cudaGetLastError());
    return finish();
}
