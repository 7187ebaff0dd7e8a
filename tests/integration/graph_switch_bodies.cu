// verdict: none
// flags: -rdc=true
// cuda: 13
// The bodies of a switch write the same bytes. One of them runs at most, so they are no race. A
// value beyond the last body runs none.
#include "graph_conditional.h"

int main()
{
    int *p = device_array<int>(), *value = device_array<int>(1), host[1];
    cudaGraph_t graph, bodies[3];
    cudaGraphConditionalHandle handle;
    cudaGraphExec_t exec;
    int n = N, adds[3] = {1, 10, 100};
    CHECK(cudaMemset(p, 0, BYTES));
    CHECK(cudaGraphCreate(&graph, 0));
    CHECK(cudaGraphConditionalHandleCreate(&handle, graph, 0, 0));
    void *choose[] = {&handle, &value};
    cudaGraphNode_t chosen = add_kernel(graph, (void *)set_to, choose);
    add_conditional(graph, chosen, handle, cudaGraphCondTypeSwitch, bodies, 3);
    for (int i = 0; i < 3; i++) {
        void *add[] = {&p, &n, &adds[i]};
        add_kernel(bodies[i], (void *)add_to, add, nullptr, GRID, BLOCK);
    }
    CHECK(cudaGraphInstantiate(&exec, graph, 0));
    for (int i = 0; i < 4; i++) {
        CHECK(cudaMemcpy(value, &i, sizeof i, cudaMemcpyHostToDevice));
        CHECK(cudaGraphLaunch(exec, 0));
        CHECK(cudaDeviceSynchronize());
    }
    CHECK(cudaMemcpy(host, p + 7, sizeof host, cudaMemcpyDeviceToHost));
    if (host[0] != 111)
        printf("%d\n", host[0]);
    return finish();
}
