// link: -lcuda
// ways: run run-static
// verdict: race
// expect: freeing
// cuMemUnmap promises no wait for what still uses the memory.
#include "mapping.h"

#include <unistd.h>

int main()
{
    space s;
    cudaStream_t a = nonblocking_stream(), b = nonblocking_stream();
    CUmemGenericAllocationHandle memory = s.create();
    CUdeviceptr base = s.reserve();
    launch_fill(a, s.map(base, memory));
    usleep(20000); // long enough, as a rule: but nothing says so
    DRIVER_CHECK(cuMemUnmap(base, s.unit));
    return finish();
}
