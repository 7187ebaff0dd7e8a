// verdict: none
// The same pool, with an event between the two owners.
#include "program.h"

int main()
{
    cudaStream_t a = nonblocking_stream(), b = nonblocking_stream();
    cudaEvent_t e = event_create();
    int *block = device_array<int>();
    csan_pool_alloc(block, BYTES, a);
    launch_fill(a, block);
    csan_pool_free(block, a);
    CHECK(cudaEventRecord(e, a));
    CHECK(cudaStreamWaitEvent(b, e, 0));
    csan_pool_alloc(block, BYTES, b);
    launch_fill(b, block);
    csan_pool_free(block, b);
    return finish();
}
