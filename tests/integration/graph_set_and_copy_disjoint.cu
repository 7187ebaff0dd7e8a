// verdict: none
// A set and a copy node on different halves of one allocation.
#include "graph.h"

int main()
{
    int *p = device_array<int>(), *q = device_array<int>();
    cudaStream_t a = nonblocking_stream(), b = nonblocking_stream();
    begin_capture(a);
    stream_follows(b, a);
    CHECK(cudaMemsetAsync(p, 0, BYTES / 2, a));
    CHECK(cudaMemcpyAsync(p + N / 2, q, BYTES / 2, cudaMemcpyDeviceToDevice, b));
    stream_follows(a, b);
    cudaGraphExec_t exec = instantiate(end_capture(a));
    CHECK(cudaGraphLaunch(exec, a));
    return finish();
}
