// verdict: none
// cudaFree waits for the device, so the next owner of the same address meets nobody.
#include "program.h"

int main()
{
    cudaStream_t a = nonblocking_stream(), b = nonblocking_stream();
    int *p = device_array<int>();
    launch_fill(a, p);
    CHECK(cudaFree(p));
    int *q = device_array<int>();
    launch_fill(b, q);
    return finish();
}
