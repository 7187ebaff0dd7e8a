// verdict: possible
// gpu: possible
// flags: -rdc=true
// cuda: 13
// expect: in the graph's launch|In a graph|add_to
// Two branches in the body of a loop write the same bytes.
#include "graph_conditional.h"

int main()
{
    int *p = device_array<int>(), *left = device_array<int>(1);
    cudaGraph_t graph, loop;
    cudaGraphConditionalHandle again;
    cudaGraphExec_t exec;
    int n = N, one = 1, ten = 10;
    fill<<<1, 1>>>(left, 3, 1);
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaGraphCreate(&graph, 0));
    CHECK(cudaGraphConditionalHandleCreate(&again, graph, 1, cudaGraphCondAssignDefault));
    add_conditional(graph, nullptr, again, cudaGraphCondTypeWhile, &loop);
    void *add_one[] = {&p, &n, &one}, *add_ten[] = {&p, &n, &ten}, *count[] = {&again, &left};
    add_kernel(loop, (void *)set_if_left, count);
    add_kernel(loop, (void *)add_to, add_one, nullptr, GRID, BLOCK);
    add_kernel(loop, (void *)add_to, add_ten, nullptr, GRID, BLOCK);
    CHECK(cudaGraphInstantiate(&exec, graph, 0));
    CHECK(cudaGraphLaunch(exec, 0));
    return finish();
}
