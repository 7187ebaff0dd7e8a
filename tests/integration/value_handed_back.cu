// link: -lcuda
// ways: run run-static
// verdict: none
// Two streams hand a buffer to and fro by one word.
#include "value.h"

int main()
{
    int *p = device_array<int>(), *q = device_array<int>();
    cudaStream_t a = nonblocking_stream(), b = nonblocking_stream();
    CUdeviceptr word = words();
    for (int round = 0; round < 3; round++) {
        launch_fill(a, p);
        DRIVER_CHECK(cuStreamWriteValue32(a, word, 1, 0));
        DRIVER_CHECK(cuStreamWaitValue32(b, word, 1, CU_STREAM_WAIT_VALUE_EQ));
        launch_increment(b, p);
        DRIVER_CHECK(cuStreamWriteValue32(b, word, 0, 0));
        DRIVER_CHECK(cuStreamWaitValue32(a, word, 0, CU_STREAM_WAIT_VALUE_EQ));
    }
    return finish();
}
