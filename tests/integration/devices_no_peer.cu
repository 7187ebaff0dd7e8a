// verdict: none
// devices: 2
// finding: memory that the device cannot reach
// expect: CSAN: memory that the device cannot reach: fill \(.*devices_no_peer.cu:{launch}\) writes 4096 bytes of the 4096 bytes allocated at .*devices_no_peer.cu:{allocated}
// expect: The memory is of device 1. The kernel runs on device 0, which has no access to it.
// expect: Fix: enable access to that device \(cudaDeviceEnablePeerAccess;
// own-errors: yes
// skip: gpu
// A kernel on one device uses memory of another one, of which nobody enabled the access.
#include "devices.h"

int main()
{
    int *p = nullptr;
    on(1);
    CHECK(cudaMalloc(&p, BYTES)); // at: allocated
    on(0);
    fill<<<GRID, BLOCK>>>(p, 1, N); // at: launch
    cudaDeviceSynchronize();
    printf("done\n");
    return 0;
}
