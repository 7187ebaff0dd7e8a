// verdict: none
// Work in the legacy default stream waits for all blocking streams.
#include "program.h"

int main()
{
    int *p = device_array<int>();
    cudaStream_t a = blocking_stream();
    launch_fill(a, p);
    launch_increment(cudaStreamLegacy, p);
    return finish();
}
