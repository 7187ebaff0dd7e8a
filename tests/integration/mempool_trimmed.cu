// verdict: none
// Trimming a pool, and destroying it while its memory is in use, touches nothing.
#include "mempool.h"

int main()
{
    cudaMemPool_t pool = mempool_create();
    cudaStream_t a = nonblocking_stream(), b = nonblocking_stream();
    int *p = mempool_array(pool, a), *q = mempool_array(pool, a);
    launch_fill(a, p);
    CHECK(cudaFreeAsync(q, a));
    CHECK(cudaMemPoolTrimTo(pool, 0));
    CHECK(cudaMemPoolDestroy(pool));
    launch_increment(a, p);
    CHECK(cudaFreeAsync(p, a));
    (void)b;
    return finish();
}
