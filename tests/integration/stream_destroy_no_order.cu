// verdict: race
// cudaStreamDestroy returns at once and lets the work go on.
#include "program.h"

int main()
{
    int *p = device_array<int>();
    cudaStream_t a = nonblocking_stream(), b = nonblocking_stream();
    launch_fill(a, p);
    CHECK(cudaStreamDestroy(a));
    launch_increment(b, p);
    return finish();
}
