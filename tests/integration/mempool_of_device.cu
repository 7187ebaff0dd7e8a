// verdict: race
// The pool that the program gives its device is the one cudaMallocAsync takes from.
#include "mempool.h"

int main()
{
    cudaMemPool_t pool = mempool_create();
    cudaStream_t a = nonblocking_stream(), b = nonblocking_stream();
    int *p = nullptr;
    cudaMemPool_t now;
    CHECK(cudaDeviceSetMemPool(0, pool));
    CHECK(cudaDeviceGetMemPool(&now, 0));
    if (now != pool)
        return 102;
    CHECK(cudaMallocAsync((void **)&p, BYTES, a));
    launch_fill(b, p);
    return finish();
}
