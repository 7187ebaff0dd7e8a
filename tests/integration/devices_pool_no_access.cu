// verdict: none
// devices: 2
// finding: memory that the device cannot reach
// expect: CSAN: memory that the device cannot reach: fill \(.*devices_pool_no_access.cu:{launch}\) writes 4096 bytes of the 4096 bytes allocated at .*devices_pool_no_access.cu:{allocated}
// expect: The memory is of a pool of device 1. The kernel runs on device 0, to which the pool gives no access.
// expect: Fix: enable access to that device \(.*of a pool: cudaMemPoolSetAccess
// own-errors: yes
// skip: gpu
// A kernel on one device uses memory of another one's pool. Access of one device to the other does
// not cover pools.
#include "devices.h"

int main()
{
    int *p = nullptr;
    two_devices();
    cudaStream_t theirs = stream_on(1);
    on(1);
    CHECK(cudaMallocAsync((void **)&p, BYTES, theirs)); // at: allocated
    CHECK(cudaStreamSynchronize(theirs));
    on(0);
    fill<<<GRID, BLOCK>>>(p, 1, N); // at: launch
    cudaDeviceSynchronize();
    printf("done\n");
    return 0;
}
