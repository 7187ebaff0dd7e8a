// devices: 2
// verdict: race
// The legacy streams of two devices are two streams.
#include "devices.h"

int main()
{
    two_devices();
    cudaStream_t a = stream_on(0), b = stream_on(1);
    int *p = array_on(0), *q = array_on(1);
    fill_on(0, nullptr, p);
    fill_on(1, nullptr, p);
    (void)a, (void)b, (void)q;
    return finish_both();
}
