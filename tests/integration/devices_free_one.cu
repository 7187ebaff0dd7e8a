// devices: 2
// verdict: race
// cudaFree waits for the device of the memory, and not for the other one.
#include "devices.h"

int main()
{
    two_devices();
    cudaStream_t a = stream_on(0), b = stream_on(1);
    int *p = array_on(0), *unused = array_on(0);
    CHECK(cudaDeviceSynchronize());
    fill_on(1, b, p);
    CHECK(cudaFree(unused));
    increment_on(0, a, p);
    return finish_both();
}
