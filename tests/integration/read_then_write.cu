// verdict: race
// expect: reading from argument\(s\) 1
// A write after an unordered read is a race too.
#include "program.h"

int main()
{
    int *p = device_array<int>(), *out = device_array<int>();
    CHECK(cudaMemset(p, 0, BYTES));
    CHECK(cudaDeviceSynchronize());
    cudaStream_t a = nonblocking_stream(), b = nonblocking_stream();
    launch_copy(a, out, p);
    launch_fill(b, p);
    return finish();
}
