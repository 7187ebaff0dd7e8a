// verdict: none
// Synchronizing the legacy default stream covers the blocking streams.
#include "program.h"

int main()
{
    int *p = device_array<int>();
    cudaStream_t a = blocking_stream(), b = nonblocking_stream();
    launch_fill(a, p);
    CHECK(cudaStreamSynchronize(0));
    launch_increment(b, p);
    return finish();
}
