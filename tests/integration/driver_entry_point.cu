// verdict: race
// expect: cuMemsetD32Async
// A runtime API program that fetches a driver function with cudaGetDriverEntryPointByVersion.
#include "program.h"
#include <cudaTypedefs.h>

int main()
{
    int *p = device_array<int>();
    cudaStream_t a = nonblocking_stream(), b = nonblocking_stream();
    void *address = nullptr;
    cudaDriverEntryPointQueryResult result;
    CHECK(cudaGetDriverEntryPointByVersion("cuMemsetD32Async", &address, 12000, cudaEnableDefault,
                                           &result));
    PFN_cuMemsetD32Async_v3020 set = (PFN_cuMemsetD32Async_v3020)address;
    launch_fill(a, p);
    if (set((CUdeviceptr)(uintptr_t)p, 7, N, b) != CUDA_SUCCESS)
        return 101;
    return finish();
}
