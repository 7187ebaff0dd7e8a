// verdict: none
// devices: 2
// finding: memory that the device cannot reach
// expect: CSAN: memory that the device cannot reach: fill \(.*devices_graph_no_peer.cu:{node}\) writes 4096 bytes of the 4096 bytes allocated at .*devices_graph_no_peer.cu:{allocated}
// expect: The memory is of device 1. The kernel runs on device 0, which has no access to it.
// own-errors: yes
// skip: gpu
// A node of a graph uses memory of another device, of which nobody enabled the access.
#include "devices.h"
#include "graph.h"

int main()
{
    int *p = nullptr;
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    cudaStream_t own = stream_on(0);
    on(1);
    CHECK(cudaMalloc(&p, BYTES)); // at: allocated
    on(0);
    CHECK(cudaStreamBeginCapture(own, cudaStreamCaptureModeGlobal));
    fill<<<GRID, BLOCK, 0, own>>>(p, 1, N); // at: node
    CHECK(cudaStreamEndCapture(own, &graph));
    CHECK(cudaGraphInstantiate(&exec, graph, 0));
    CHECK(cudaGraphLaunch(exec, own));
    cudaDeviceSynchronize();
    printf("done\n");
    return 0;
}
