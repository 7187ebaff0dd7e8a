// verdict: race
// expect: memory reused while stream
// expect: on memory allocated at .*nvtx_pool.h:[0-9]+$
// expect: 1 frame of NVTX
// cuda: 13
// A pool that speaks NVTX gives a block to a second stream while the first still uses it.
#include "nvtx_pool.h"

int main()
{
    cudaStream_t a = nonblocking_stream(), b = nonblocking_stream();
    nvtx_pool pool(4 * BYTES);
    int *first = pool.allocate<int>(BYTES);
    launch_fill(a, first);
    pool.deallocate(first);
    int *second = pool.allocate<int>(BYTES);
    launch_fill(b, second);
    pool.deallocate(second);
    return finish();
}
