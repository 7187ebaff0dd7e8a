// link: -lcuda
// ways: run run-static
// verdict: none
// The wait is enqueued before the write that satisfies it.
#include "value.h"

int main()
{
    int *p = device_array<int>(), *q = device_array<int>();
    cudaStream_t a = nonblocking_stream(), b = nonblocking_stream();
    CUdeviceptr word = words();
    DRIVER_CHECK(cuStreamWaitValue32(b, word, 1, CU_STREAM_WAIT_VALUE_EQ));
    launch_increment(b, p);
    launch_fill(a, p);
    DRIVER_CHECK(cuStreamWriteValue32(a, word, 1, 0));
    return finish();
}
