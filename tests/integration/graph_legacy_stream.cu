// verdict: none
// A graph launched in a blocking stream takes part in the legacy stream's order.
#include "graph.h"

int main()
{
    int *p = device_array<int>();
    cudaStream_t a = nonblocking_stream(), c = blocking_stream();
    begin_capture(a);
    launch_fill(a, p);
    cudaGraphExec_t exec = instantiate(end_capture(a));
    CHECK(cudaGraphLaunch(exec, c));
    launch_increment(0, p);
    CHECK(cudaGraphLaunch(exec, c));
    CHECK(cudaGraphLaunch(exec, 0));
    launch_increment(c, p);
    return finish();
}
