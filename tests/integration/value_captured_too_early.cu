// link: -lcuda
// ways: run run-static
// verdict: race
// The write was captured before the kernel.
#include "value_graph.h"

int main()
{
    int *p = device_array<int>();
    cudaStream_t a = nonblocking_stream(), b = nonblocking_stream();
    CUdeviceptr word = words();
    begin_capture(a);
    DRIVER_CHECK(cuStreamWriteValue32(a, word, 1, 0));
    launch_fill(a, p);
    cudaGraphExec_t exec = instantiate(end_capture(a));
    DRIVER_CHECK(cuStreamWaitValue32(b, word, 1, CU_STREAM_WAIT_VALUE_GEQ));
    launch_increment(b, p);
    CHECK(cudaGraphLaunch(exec, a));
    return finish();
}
