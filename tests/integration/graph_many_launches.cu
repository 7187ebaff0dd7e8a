// verdict: none
// expect: 2000 graph launches; 1 graph instantiated, 200 nodes
// Many launches of one graph cost by what it touches, not by its nodes: two ranges here.
#include "graph.h"

int main()
{
    int *p = device_array<int>(), *q = device_array<int>();
    cudaStream_t a = nonblocking_stream();
    begin_capture(a);
    for (int i = 0; i < 100; i++) {
        CHECK(cudaMemsetAsync(p, i, 64, a));
        CHECK(cudaMemcpyAsync(q, p, 64, cudaMemcpyDeviceToDevice, a));
    }
    cudaGraphExec_t exec = instantiate(end_capture(a));
    for (int i = 0; i < 2000; i++)
        CHECK(cudaGraphLaunch(exec, a));
    return finish();
}
