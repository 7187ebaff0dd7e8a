// verdict: none
// The host waits for one stream, then gives work to another.
#include "program.h"

int main()
{
    int *p = device_array<int>();
    cudaStream_t a = nonblocking_stream(), b = nonblocking_stream();
    launch_fill(a, p);
    CHECK(cudaStreamSynchronize(a));
    launch_increment(b, p);
    return finish();
}
