// verdict: none
// The per-thread default stream is a blocking stream: ordered with the legacy one.
#include "program.h"

int main()
{
    int *p = device_array<int>();
    launch_fill(cudaStreamPerThread, p);
    launch_increment(cudaStreamLegacy, p);
    launch_increment(cudaStreamPerThread, p);
    return finish();
}
