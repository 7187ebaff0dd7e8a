// devices: 2
// verdict: none
// A peer copy without Async is serialized with all work of both devices, before and after.
#include "devices.h"

int main()
{
    two_devices();
    cudaStream_t a = stream_on(0), b = stream_on(1);
    int *p = array_on(0), *q = array_on(1);
    fill_on(0, a, p);
    fill_on(1, b, q);
    CHECK(cudaMemcpyPeer(p, 0, q, 1, BYTES));
    increment_on(0, a, p);
    increment_on(1, b, q);
    return finish_both();
}
