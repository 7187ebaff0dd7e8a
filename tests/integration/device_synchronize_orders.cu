// verdict: none
// The host waits for all streams.
#include "program.h"

int main()
{
    int *p = device_array<int>();
    cudaStream_t a = nonblocking_stream(), b = nonblocking_stream();
    launch_fill(a, p);
    CHECK(cudaDeviceSynchronize());
    launch_increment(b, p);
    return finish();
}
