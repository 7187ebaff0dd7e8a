// link: -lcuda
// ways: run run-static
// verdict: none
// The second count comes after both fills.
#include "value.h"

int main()
{
    int *p = device_array<int>(), *q = device_array<int>();
    cudaStream_t a = nonblocking_stream(), b = nonblocking_stream();
    CUdeviceptr word = words();
    launch_fill(a, p);
    DRIVER_CHECK(cuStreamWriteValue32(a, word, 1, 0));
    launch_fill(a, q);
    DRIVER_CHECK(cuStreamWriteValue32(a, word, 2, 0));
    DRIVER_CHECK(cuStreamWaitValue32(b, word, 2, CU_STREAM_WAIT_VALUE_GEQ));
    launch_increment(b, p);
    launch_increment(b, q);
    return finish();
}
