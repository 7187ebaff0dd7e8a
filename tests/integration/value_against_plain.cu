// link: -lcuda
// ways: run run-static
// verdict: race
// explore: 66 67
// The word itself: a plain write of another stream conflicts with the wait.
#include "value.h"

int main()
{
    int *p = device_array<int>(), *q = device_array<int>();
    cudaStream_t a = nonblocking_stream(), b = nonblocking_stream();
    CUdeviceptr word = words();
    DRIVER_CHECK(cuStreamWriteValue32(a, word, 1, 0));
    DRIVER_CHECK(cuStreamWaitValue32(a, word, 1, CU_STREAM_WAIT_VALUE_GEQ));
    CHECK(cudaMemsetAsync((void *)word, 1, 4, b)); // satisfies the wait, too
    return finish();
}
