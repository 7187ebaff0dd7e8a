// link: -lcuda
// ways: run run-static
// verdict: none
// Words of 64 bits.
#include "value.h"

int main()
{
    int *p = device_array<int>(), *q = device_array<int>();
    cudaStream_t a = nonblocking_stream(), b = nonblocking_stream();
    CUdeviceptr word = words();
    launch_fill(a, p);
    DRIVER_CHECK(cuStreamWriteValue64(a, word, 1ull << 40, 0));
    DRIVER_CHECK(cuStreamWaitValue64(b, word, 1ull << 40, CU_STREAM_WAIT_VALUE_AND));
    launch_increment(b, p);
    return finish();
}
