// verdict: race
// The per-thread default stream has no order with another blocking stream.
#include "program.h"

int main()
{
    int *p = device_array<int>();
    cudaStream_t a = blocking_stream();
    launch_fill(cudaStreamPerThread, p);
    launch_increment(a, p);
    return finish();
}
