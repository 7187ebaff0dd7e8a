// verdict: none
// reject: not checked
// expect: 2 graph launches; 1 graph instantiated, 3 nodes
// A fork and a join by events become edges: what one branch does comes before what follows the
// join.
#include "graph.h"

int main()
{
    int *p = device_array<int>(), *q = device_array<int>();
    cudaStream_t a = nonblocking_stream(), b = nonblocking_stream();
    begin_capture(a);
    launch_fill(a, p);
    stream_follows(b, a);
    launch_copy(b, q, p);
    stream_follows(a, b);
    launch_increment(a, p);
    cudaGraphExec_t exec = instantiate(end_capture(a));
    CHECK(cudaGraphLaunch(exec, a));
    CHECK(cudaGraphLaunch(exec, a));
    CHECK(cudaMemset(q, 0, 0)); // no work
    return finish();
}
