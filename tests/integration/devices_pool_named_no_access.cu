// verdict: none
// devices: 2
// finding: memory that the device cannot reach
// expect: CSAN: memory that the device cannot reach: fill \(.*devices_pool_named_no_access.cu:{launch}\) writes 4096 bytes of the 4096 bytes allocated at .*devices_pool_named_no_access.cu:{allocated}
// expect: The memory is of a pool of device 1. The kernel runs on device 0, to which the pool gives no access.
// own-errors: yes
// skip: gpu
// A stream gets memory of another device's pool, which the program names. It is not the stream's
// device that counts.
#include "devices.h"

int main()
{
    int *p = nullptr;
    cudaMemPool_t pool;
    cudaStream_t own = stream_on(0);
    CHECK(cudaDeviceGetDefaultMemPool(&pool, 1));
    CHECK(cudaMallocFromPoolAsync((void **)&p, BYTES, pool, own)); // at: allocated
    fill<<<GRID, BLOCK, 0, own>>>(p, 1, N);                        // at: launch
    cudaDeviceSynchronize();
    printf("done\n");
    return 0;
}
