// link: -lcuda
// ways: run run-static
// verdict: none
// expect: waits for values that no stream wrote
// The host writes what the stream waits for, as csan cannot see.
#include "value.h"

int main()
{
    int *p = device_array<int>();
    cudaStream_t a = nonblocking_stream();
    volatile uint32_t *word = nullptr;
    CHECK(cudaMallocHost((void **)&word, sizeof *word));
    *word = 0;
    kernels_load();
    DRIVER_CHECK(cuStreamWaitValue32(a, (CUdeviceptr)word, 7, CU_STREAM_WAIT_VALUE_EQ));
    launch_fill(a, p);
    *word = 7;
    CHECK(cudaStreamSynchronize(a));
    launch_fill(nullptr, p);
    return finish();
}
