// devices: 2
// verdict: race
// A peer copy without Async and a non-blocking stream of the source's device: documented to be
// serialized, seen to overlap (tests/litmus).
#include "devices.h"

int main()
{
    two_devices();
    cudaStream_t b = stream_on(1);
    int *p = array_on(0), *q = array_on(1);
    CHECK(cudaDeviceSynchronize());
    fill_on(1, b, q);
    CHECK(cudaMemcpyPeer(p, 0, q, 1, BYTES));
    return finish_both();
}
