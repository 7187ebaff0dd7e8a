// verdict: none
// link: -lcuda
// ways: run run-static
// A write of a value without a barrier "is not supported in the v2 API" (cuda.h), which is what
// programs get: it is refused, and its stream goes on.
#include "driver_check.h"
#include "program.h"

int main()
{
    int *p = device_array<int>();
    CUdeviceptr word = (CUdeviceptr)device_array<int>();
    cudaStream_t a = nonblocking_stream();
    if (cuStreamWriteValue32(a, word, 1, CU_STREAM_WRITE_VALUE_NO_MEMORY_BARRIER) !=
        CUDA_ERROR_INVALID_VALUE)
        printf("not refused\n");
    launch_fill(a, p);
    launch_increment(a, p);
    return finish();
}
