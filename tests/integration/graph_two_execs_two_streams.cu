// verdict: race
// Two execs of one graph may overlap.
#include "graph.h"

int main()
{
    int *p = device_array<int>();
    cudaStream_t a = nonblocking_stream(), b = nonblocking_stream();
    begin_capture(a);
    launch_increment(a, p);
    cudaGraph_t graph = end_capture(a);
    cudaGraphExec_t one = instantiate(graph), other = instantiate(graph);
    CHECK(cudaGraphLaunch(one, a));
    CHECK(cudaGraphLaunch(other, b));
    return finish();
}
