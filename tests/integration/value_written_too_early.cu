// link: -lcuda
// ways: run run-static
// verdict: race
// The word is written before the work that the wait is meant for.
#include "value.h"

int main()
{
    int *p = device_array<int>(), *q = device_array<int>();
    cudaStream_t a = nonblocking_stream(), b = nonblocking_stream();
    CUdeviceptr word = words();
    DRIVER_CHECK(cuStreamWriteValue32(a, word, 1, 0));
    launch_fill(a, p);
    DRIVER_CHECK(cuStreamWaitValue32(b, word, 1, CU_STREAM_WAIT_VALUE_EQ));
    launch_increment(b, p);
    return finish();
}
