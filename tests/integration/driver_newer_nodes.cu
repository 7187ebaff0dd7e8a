// verdict: race
// cuda: 13
// skip: gpu
// expect: , 3 races
// options: dedup=0
// link: -lcuda
// Host functions that are enqueued, in both forms, and one that is a node, by functions of
// CUDA 13.1 and 13.4: each reads what a copy of another stream writes. The node's parameters, asked
// by that of 13.2, are the program's own.
#include "driver_newer.h"

static void read_all(void *data)
{
    csan_host_reads(data, BYTES);
}

int main()
{
    int *p = device_array<int>(), *host[3];
    cudaStream_t a = nonblocking_stream(), b = nonblocking_stream();
    for (int *&memory : host)
        CHECK(cudaMallocHost((void **)&memory, BYTES));
    for (int per_thread = 0; per_thread < 2; per_thread++) {
        int *memory = host[per_thread];
        CHECK(cudaMemcpyAsync(memory, p, BYTES, cudaMemcpyDeviceToHost, a));
        DRIVER_CHECK(
            newer<launch_host_t>("cuLaunchHostFunc", 13010, per_thread)(b, read_all, memory, 1));
        CHECK(cudaDeviceSynchronize());
    }

    CUgraph graph;
    CUgraphNode node;
    CUgraphExec exec;
    CUgraphNodeParams params = {}, found = {};
    params.type = CU_GRAPH_NODE_TYPE_HOST;
    params.host.fn = read_all;
    params.host.userData = host[2];
    DRIVER_CHECK(cuGraphCreate(&graph, 0));
    DRIVER_CHECK(
        newer<add_node_t>("cuGraphAddNode", 13040)(&node, graph, nullptr, nullptr, 0, &params));
    DRIVER_CHECK(newer<node_params_t>("cuGraphNodeSetParams", 13040)(node, &params));
    DRIVER_CHECK(newer<node_params_t>("cuGraphNodeGetParams", 13020)(node, &found));
    if (found.type != CU_GRAPH_NODE_TYPE_HOST || found.host.fn != read_all ||
        found.host.userData != host[2])
        return 101;
    DRIVER_CHECK(cuGraphInstantiate(&exec, graph, 0));
    CHECK(cudaMemcpyAsync(host[2], p, BYTES, cudaMemcpyDeviceToHost, a));
    DRIVER_CHECK(cuGraphLaunch(exec, b));
    return finish();
}
