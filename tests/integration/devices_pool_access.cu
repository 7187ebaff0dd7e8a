// verdict: none
// devices: 2
// As devices_pool_no_access, with the pool's access. It needs no other.
#include "devices.h"

int main()
{
    int *p = nullptr, count = 0;
    cudaMemPool_t pool;
    cudaMemAccessDesc access = {};
    CHECK(cudaGetDeviceCount(&count));
    if (count < 2) {
        printf("done\n");
        return 0;
    }
    cudaStream_t theirs = stream_on(1);
    CHECK(cudaDeviceGetDefaultMemPool(&pool, 1));
    access.location.type = cudaMemLocationTypeDevice;
    access.location.id = 0;
    access.flags = cudaMemAccessFlagsProtReadWrite;
    CHECK(cudaMemPoolSetAccess(pool, &access, 1));
    on(1);
    CHECK(cudaMallocAsync((void **)&p, BYTES, theirs));
    CHECK(cudaStreamSynchronize(theirs));
    on(0);
    launch_fill(0, p);
    return finish_both();
}
