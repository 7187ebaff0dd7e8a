// verdict: none
// cudaFree of memory that a stream still uses: the driver waits, so by default that is no race.
#include "program.h"

int main()
{
    cudaStream_t a = nonblocking_stream();
    int *p = device_array<int>();
    launch_fill(a, p);
    CHECK(cudaFree(p));
    return finish();
}
