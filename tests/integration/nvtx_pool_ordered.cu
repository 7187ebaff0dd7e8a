// verdict: none
// The same pool, with an event between the two owners, and two blocks used at the same time.
// cuda: 13
#include "nvtx_pool.h"

int main()
{
    cudaStream_t a = nonblocking_stream(), b = nonblocking_stream();
    cudaEvent_t e = event_create();
    nvtx_pool pool(4 * BYTES);
    int *first = pool.allocate<int>(BYTES), *beside = pool.allocate<int>(BYTES);
    launch_fill(a, first);
    launch_fill(b, beside);
    CHECK(cudaEventRecord(e, a));
    CHECK(cudaStreamWaitEvent(b, e, 0));
    pool.deallocate(beside);
    pool.deallocate(first);
    int *second = pool.allocate<int>(BYTES);
    launch_fill(b, second);
    pool.deallocate(second);
    return finish();
}
