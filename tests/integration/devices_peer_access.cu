// verdict: none
// devices: 2
// Kernels on one device use memory of another one: enabled, managed, of the host, or by a copy.
#include "devices.h"

int main()
{
    two_devices();
    int *theirs = array_on(1), *own = array_on(0), *managed = nullptr, *pinned = nullptr;
    on(1);
    CHECK(cudaMallocManaged(&managed, BYTES));
    CHECK(cudaMallocHost(&pinned, BYTES));
    on(0);
    launch_fill(0, theirs);
    launch_fill(0, own);
    launch_fill(0, managed);
    launch_fill(0, pinned);
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaDeviceDisablePeerAccess(1));
    CHECK(cudaMemcpyPeer(own, 0, theirs, 1, BYTES));
    return finish_both();
}
