// verdict: race
// expect: graph_against_stream.cu:{node}
// expect: graph_against_stream.cu:{other}
// A graph's launch and another stream's kernel without an order. The report names the node by the
// call that captured it.
#include "graph.h"

int main()
{
    int *p = device_array<int>();
    cudaStream_t a = nonblocking_stream(), b = nonblocking_stream();
    begin_capture(a);
    launch_fill(a, p); // at: node
    cudaGraphExec_t exec = instantiate(end_capture(a));
    CHECK(cudaGraphLaunch(exec, a));
    launch_increment(b, p); // at: other
    return finish();
}
