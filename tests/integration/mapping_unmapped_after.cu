// link: -lcuda
// ways: run run-static
// verdict: none
// Unmapped when the stream is done with it, and mapped again.
#include "mapping.h"

int main()
{
    space s;
    cudaStream_t a = nonblocking_stream(), b = nonblocking_stream();
    CUmemGenericAllocationHandle memory = s.create();
    CUdeviceptr base = s.reserve();
    launch_fill(a, s.map(base, memory));
    CHECK(cudaStreamSynchronize(a));
    DRIVER_CHECK(cuMemUnmap(base, s.unit));
    launch_fill(b, s.map(base, memory));
    CHECK(cudaStreamSynchronize(b));
    DRIVER_CHECK(cuMemUnmap(base, s.unit));
    DRIVER_CHECK(cuMemRelease(memory));
    DRIVER_CHECK(cuMemAddressFree(base, s.unit));
    return finish();
}
