// devices: 2
// verdict: none
// Peer access that is enabled already: the error of the driver, and nothing changes.
#include "devices.h"

int main()
{
    two_devices();
    cudaStream_t a = stream_on(0), b = stream_on(1);
    int *p = array_on(0), *q = array_on(1);
    if (cudaDeviceEnablePeerAccess(1, 0) != cudaErrorPeerAccessAlreadyEnabled)
        return 102;
    cudaGetLastError();
    CHECK(cudaDeviceDisablePeerAccess(1));
    if (cudaDeviceDisablePeerAccess(1) != cudaErrorPeerAccessNotEnabled)
        return 103;
    cudaGetLastError();
    fill_on(0, a, p);
    fill_on(1, b, q);
    return finish_both();
}
