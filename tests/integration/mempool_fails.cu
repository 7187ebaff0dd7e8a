// verdict: none
// A pool that is gone gives nothing: the error of the driver, and nothing changes.
#include "mempool.h"

int main()
{
    cudaMemPool_t pool = mempool_create();
    cudaStream_t a = nonblocking_stream(), b = nonblocking_stream();
    int *p = mempool_array(pool, a), *q = nullptr;
    CHECK(cudaFreeAsync(p, a));
    CHECK(cudaStreamSynchronize(a));
    if (cudaMallocFromPoolAsync((void **)&q, BYTES, nullptr, a) == cudaSuccess)
        return 102;
    cudaGetLastError();
    q = mempool_array(pool, b);
    launch_fill(b, q);
    return finish();
}
