// link: -lcuda
// ways: run run-static
// verdict: race
// The wait is for another word, which another stream writes.
#include "value.h"

int main()
{
    int *p = device_array<int>(), *q = device_array<int>();
    cudaStream_t a = nonblocking_stream(), b = nonblocking_stream();
    CUdeviceptr word = words();
    cudaStream_t c = nonblocking_stream();
    launch_fill(a, p);
    DRIVER_CHECK(cuStreamWriteValue32(a, word, 1, 0));
    DRIVER_CHECK(cuStreamWriteValue32(c, word + 8, 1, 0));
    DRIVER_CHECK(cuStreamWaitValue32(b, word + 8, 1, CU_STREAM_WAIT_VALUE_EQ));
    launch_increment(b, p);
    return finish();
}
