// link: -lcuda
// ways: run run-static
// verdict: race
// expect: waits for values that no stream wrote
// A write that fails releases nothing; the wait is satisfied by what was there before.
#include "value.h"

int main()
{
    int *p = device_array<int>(), *q = device_array<int>();
    cudaStream_t a = nonblocking_stream(), b = nonblocking_stream();
    CUdeviceptr word = words();
    CHECK(cudaMemset((void *)word, 1, 4));
    CHECK(cudaDeviceSynchronize());
    launch_fill(a, p);
    if (cuStreamWriteValue32(a, word, 0x01010101, 0x100) != CUDA_ERROR_INVALID_VALUE)
        return 102;
    DRIVER_CHECK(cuStreamWaitValue32(b, word, 0x01010101, CU_STREAM_WAIT_VALUE_EQ));
    launch_increment(b, p);
    return finish();
}
