// verdict: race
// Memory of a pool of its own, used by a stream that is not ordered after its birth.
#include "mempool.h"

int main()
{
    cudaMemPool_t pool = mempool_create();
    cudaStream_t a = nonblocking_stream(), b = nonblocking_stream();
    int *p = mempool_array(pool, a);
    launch_fill(b, p);
    return finish();
}
