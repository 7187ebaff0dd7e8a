// link: -lcuda
// ways: run run-static
// verdict: none
// One of two names is unmapped while a stream uses the other.
#include "mapping.h"

int main()
{
    space s;
    cudaStream_t a = nonblocking_stream(), b = nonblocking_stream();
    CUmemGenericAllocationHandle memory = s.create();
    CUdeviceptr first = s.reserve();
    int *p = s.map(first, memory), *q = s.map(s.reserve(), memory);
    launch_fill(a, q);
    DRIVER_CHECK(cuMemUnmap(first, s.unit));
    (void)p;
    return finish();
}
