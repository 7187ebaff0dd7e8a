// verdict: race
// A set is a write like any other.
#include "program.h"

int main()
{
    int *p = device_array<int>();
    cudaStream_t a = nonblocking_stream(), b = nonblocking_stream();
    launch_fill(a, p);
    CHECK(cudaMemsetAsync(p, 0, BYTES, b));
    return finish();
}
