// link: -lcuda
// ways: run run-static
// verdict: race
// expect: freeing
// cuMemUnmap promises no wait for what still uses the memory.
#include "mapping.h"

int main()
{
    space s;
    cudaStream_t a = nonblocking_stream(), b = nonblocking_stream();
    CUmemGenericAllocationHandle memory = s.create();
    CUdeviceptr base = s.reserve();
    launch_fill(a, s.map(base, memory));
    DRIVER_CHECK(cuMemUnmap(base, s.unit));
    return finish();
}
