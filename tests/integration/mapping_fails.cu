// link: -lcuda
// ways: run run-static
// verdict: none
// Calls that fail: the program sees the error of the driver, and nothing changes.
#include "mapping.h"

int main()
{
    space s;
    cudaStream_t a = nonblocking_stream(), b = nonblocking_stream();
    CUmemGenericAllocationHandle memory = s.create();
    CUdeviceptr base = s.reserve();
    int *p = s.map(base, memory);
    launch_fill(a, p);
    if (cuMemUnmap(base + s.unit, s.unit) != CUDA_ERROR_INVALID_VALUE ||
        cuMemMap(base, s.unit, 0, memory, 0) == CUDA_SUCCESS)
        return 102;
    launch_increment(a, p);
    return finish();
}
