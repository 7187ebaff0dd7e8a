// verdict: race
// Freed in its stream while another one still uses it, and given out there again.
#include "mempool.h"

int main()
{
    cudaMemPool_t pool = mempool_create();
    cudaStream_t a = nonblocking_stream(), b = nonblocking_stream();
    cudaEvent_t e = event_create();
    int *p = mempool_array(pool, a);
    CHECK(cudaEventRecord(e, a));
    CHECK(cudaStreamWaitEvent(b, e, 0));
    launch_fill(b, p);
    CHECK(cudaFreeAsync(p, a));
    int *q = mempool_array(pool, a);
    launch_fill(a, q);
    return finish();
}
