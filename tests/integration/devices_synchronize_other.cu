// devices: 2
// verdict: none
// Synchronizing the other device waits for its work.
#include "devices.h"

int main()
{
    two_devices();
    cudaStream_t a = stream_on(0), b = stream_on(1);
    int *p = array_on(0), *q = array_on(1);
    fill_on(1, b, p);
    on(1);
    CHECK(cudaDeviceSynchronize());
    on(0);
    fill_on(0, a, p);
    (void)q;
    return finish_both();
}
