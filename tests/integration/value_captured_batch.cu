// link: -lcuda
// ways: run run-static
// verdict: none
// A batch that was captured waits for one word and writes another.
#include "value_graph.h"

int main()
{
    int *p = device_array<int>();
    cudaStream_t a = nonblocking_stream(), b = nonblocking_stream();
    CUdeviceptr word = words();
    begin_capture(a);
    CUstreamBatchMemOpParams operations[] = {waits(word), writes(word + 8)};
    DRIVER_CHECK(cuStreamBatchMemOp(a, 2, operations, 0));
    launch_increment(a, p);
    cudaGraphExec_t exec = instantiate(end_capture(a));
    launch_fill(b, p);
    DRIVER_CHECK(cuStreamWriteValue32(b, word, 1, 0));
    CHECK(cudaGraphLaunch(exec, a));
    DRIVER_CHECK(cuStreamWaitValue32(b, word + 8, 1, CU_STREAM_WAIT_VALUE_GEQ));
    return finish();
}
