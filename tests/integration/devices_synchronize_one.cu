// devices: 2
// verdict: race
// Synchronizing one device does not wait for the other.
#include "devices.h"

int main()
{
    two_devices();
    cudaStream_t a = stream_on(0), b = stream_on(1);
    int *p = array_on(0), *q = array_on(1);
    fill_on(1, b, p);
    CHECK(cudaDeviceSynchronize());
    fill_on(0, a, p);
    (void)q;
    return finish_both();
}
