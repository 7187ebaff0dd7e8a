// verdict: none
// What a thread does between csan_ignore_begin and csan_ignore_end is compared with nothing:
// neither with what came before, nor with what comes after, and not in a graph that is captured
// there.
#include "graph.h"

int main()
{
    int *p = device_array<int>();
    cudaStream_t a = nonblocking_stream(), b = nonblocking_stream(), c = nonblocking_stream();
    launch_fill(a, p);
    csan_ignore_begin();
    csan_ignore_begin();
    launch_fill(b, p);
    csan_ignore_end();
    CHECK(cudaMemsetAsync(p, 0, BYTES, b));
    begin_capture(c);
    launch_increment(c, p);
    cudaGraphExec_t exec = instantiate(end_capture(c));
    csan_ignore_end();
    launch_increment(a, p);
    CHECK(cudaGraphLaunch(exec, c));
    return finish();
}
