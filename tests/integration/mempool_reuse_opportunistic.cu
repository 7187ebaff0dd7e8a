// verdict: none
// The pool may give memory to another stream once its free was executed.
#include "mempool.h"

int main()
{
    cudaMemPool_t pool = mempool_create();
    cudaStream_t a = nonblocking_stream(), b = nonblocking_stream();
    mempool_set(pool, cudaMemPoolReuseAllowInternalDependencies, 0);
    int *p = mempool_array(pool, a);
    launch_fill(a, p);
    CHECK(cudaFreeAsync(p, a));
    CHECK(cudaStreamSynchronize(a));
    int *q = mempool_array(pool, b);
    launch_fill(b, q);
    CHECK(cudaFreeAsync(q, b));
    return finish();
}
