// verdict: none
// Freed in one stream, given out again in another that waited for an event behind the free.
#include "mempool.h"

int main()
{
    cudaMemPool_t pool = mempool_create();
    cudaStream_t a = nonblocking_stream(), b = nonblocking_stream();
    cudaEvent_t e = event_create();
    int *p = mempool_array(pool, a);
    launch_fill(a, p);
    CHECK(cudaFreeAsync(p, a));
    CHECK(cudaEventRecord(e, a));
    CHECK(cudaStreamWaitEvent(b, e, 0));
    int *q = mempool_array(pool, b);
    launch_fill(b, q);
    CHECK(cudaFreeAsync(q, b));
    return finish();
}
