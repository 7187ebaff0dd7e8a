// devices: 2
// verdict: none
// cudaFree waits for the device of the memory, whichever is current, also when it is in use there.
#include "devices.h"

int main()
{
    two_devices();
    cudaStream_t a = stream_on(0), b = stream_on(1);
    int *p = array_on(0), *q = array_on(1);
    CHECK(cudaDeviceSynchronize());
    fill_on(1, b, p);
    fill_on(1, b, q);
    CHECK(cudaFree(q));
    increment_on(0, a, p);
    return finish_both();
}
