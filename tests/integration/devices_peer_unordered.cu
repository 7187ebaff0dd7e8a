// devices: 2
// verdict: race
// Kernels of two devices write memory of the first one.
#include "devices.h"

int main()
{
    two_devices();
    cudaStream_t a = stream_on(0), b = stream_on(1);
    int *p = array_on(0), *q = array_on(1);
    fill_on(0, a, p);
    fill_on(1, b, p);
    (void)q;
    return finish_both();
}
