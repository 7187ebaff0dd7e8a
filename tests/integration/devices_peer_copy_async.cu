// devices: 2
// verdict: race
// A peer copy with Async is in its stream alone.
#include "devices.h"

int main()
{
    two_devices();
    cudaStream_t a = stream_on(0), b = stream_on(1);
    int *p = array_on(0), *q = array_on(1);
    fill_on(1, b, q);
    CHECK(cudaMemcpyPeerAsync(p, 0, q, 1, BYTES, a));
    return finish_both();
}
