// link: -lcuda
// ways: run run-static
// verdict: none
// A batch writes two words, another one waits for both, in the order of the arrays.
#include "value.h"

int main()
{
    int *p = device_array<int>(), *q = device_array<int>();
    cudaStream_t a = nonblocking_stream(), b = nonblocking_stream();
    CUdeviceptr word = words();
    CUstreamBatchMemOpParams writes[2] = {}, waits[2] = {};
    for (int i = 0; i < 2; i++) {
        writes[i].writeValue.operation = CU_STREAM_MEM_OP_WRITE_VALUE_32;
        writes[i].writeValue.address = word + 8 * i;
        writes[i].writeValue.value = 5 + i;
        waits[i].waitValue.operation = CU_STREAM_MEM_OP_WAIT_VALUE_32;
        waits[i].waitValue.address = word + 8 * i;
        waits[i].waitValue.value = 5 + i;
        waits[i].waitValue.flags = CU_STREAM_WAIT_VALUE_EQ;
    }
    launch_fill(a, p);
    DRIVER_CHECK(cuStreamBatchMemOp(a, 2, writes, 0));
    DRIVER_CHECK(cuStreamBatchMemOp(b, 2, waits, 0));
    launch_increment(b, p);
    return finish();
}
