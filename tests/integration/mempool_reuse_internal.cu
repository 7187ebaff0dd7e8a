// verdict: none
// The pool may give memory to another stream by orders that it makes itself.
#include "mempool.h"

int main()
{
    cudaMemPool_t pool = mempool_create();
    cudaStream_t a = nonblocking_stream(), b = nonblocking_stream();
    mempool_set(pool, cudaMemPoolReuseFollowEventDependencies, 0);
    mempool_set(pool, cudaMemPoolReuseAllowOpportunistic, 0);
    mempool_set(pool, cudaMemPoolReuseAllowInternalDependencies, 1);
    for (int round = 0; round < 4; round++) {
        int *p = mempool_array(pool, a);
        launch_fill(a, p);
        CHECK(cudaFreeAsync(p, a));
        int *q = mempool_array(pool, b);
        launch_fill(b, q);
        CHECK(cudaFreeAsync(q, b));
    }
    return finish();
}
