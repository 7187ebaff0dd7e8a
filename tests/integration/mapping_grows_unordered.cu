// link: -lcuda
// ways: run run-static
// verdict: race
// A kernel goes over the seam of two mappings, and another one writes behind it.
#include "mapping.h"

int main()
{
    space s;
    cudaStream_t a = nonblocking_stream(), b = nonblocking_stream();
    CUmemGenericAllocationHandle memory = s.create();
    CUdeviceptr base = s.reserve(2);
    int *p = s.map(base, memory);
    int *q = s.map(base + s.unit, s.create());
    launch_fill(a, q - N / 2);
    launch_fill(b, q);
    (void)p;
    return finish();
}
