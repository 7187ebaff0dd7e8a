// verdict: none
// flags: -rdc=true
// cuda: 13
// A loop in a graph: its body adds, and a kernel of the body counts down. Nested in it is an if,
// with an else. Whoever reads the result waits for the graph.
#include "graph_conditional.h"

int main()
{
    int *p = device_array<int>(), *left = device_array<int>(1), *odd = device_array<int>(1),
        host[N];
    cudaGraph_t graph, loop, branches[2];
    cudaGraphConditionalHandle again, which;
    cudaGraphExec_t exec;
    cudaStream_t stream = nonblocking_stream();
    int turns = 5, n = N, one = 1, ten = 10, hundred = 100, zero = 0;
    CHECK(cudaGraphCreate(&graph, 0));
    CHECK(cudaGraphConditionalHandleCreate(&again, graph, 1, cudaGraphCondAssignDefault));
    add_conditional(graph, nullptr, again, cudaGraphCondTypeWhile, &loop);
    void *add_one[] = {&p, &n, &one}, *add_ten[] = {&p, &n, &ten}, *count[] = {&again, &left},
         *add_hundred[] = {&p, &n, &hundred}, *choose[] = {&which, &odd};
    cudaGraphNode_t added = add_kernel(loop, (void *)add_to, add_one, nullptr, GRID, BLOCK);
    cudaGraphNode_t counted = add_kernel(loop, (void *)set_if_left, count, added);
    CHECK(cudaGraphConditionalHandleCreate(&which, loop, 0, 0));
    cudaGraphNode_t chosen = add_kernel(loop, (void *)set_to, choose, counted);
    add_conditional(loop, chosen, which, cudaGraphCondTypeIf, branches, 2);
    add_kernel(branches[0], (void *)add_to, add_ten, nullptr, GRID, BLOCK);
    add_kernel(branches[1], (void *)add_to, add_hundred, nullptr, GRID, BLOCK);
    CHECK(cudaGraphInstantiate(&exec, graph, 0));
    for (int launch = 0; launch < 2; launch++) {
        CHECK(cudaMemsetAsync(p, 0, BYTES, stream));
        CHECK(cudaMemcpyAsync(left, &turns, sizeof turns, cudaMemcpyHostToDevice, stream));
        CHECK(cudaMemcpyAsync(odd, launch ? &one : &zero, sizeof one, cudaMemcpyHostToDevice,
                              stream));
        CHECK(cudaGraphLaunch(exec, stream));
        CHECK(cudaMemcpyAsync(host, p, BYTES, cudaMemcpyDeviceToHost, stream));
        CHECK(cudaStreamSynchronize(stream));
        for (int i = 0; i < N; i++)
            if (host[i] != turns * (1 + (launch ? ten : hundred))) {
                printf("launch %d: %d\n", launch, host[i]);
                break;
            }
    }
    CHECK(cudaGraphExecDestroy(exec));
    CHECK(cudaGraphDestroy(graph));
    return finish();
}
