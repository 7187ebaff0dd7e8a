// verdict: race
// Waiting for the wrong stream orders nothing.
#include "program.h"

int main()
{
    int *p = device_array<int>();
    cudaStream_t a = nonblocking_stream(), b = nonblocking_stream(), c = nonblocking_stream();
    launch_fill(a, p);
    CHECK(cudaStreamSynchronize(c));
    launch_increment(b, p);
    return finish();
}
