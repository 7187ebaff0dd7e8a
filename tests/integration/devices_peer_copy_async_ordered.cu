// devices: 2
// verdict: none
// As devices_peer_copy_async, behind an event.
#include "devices.h"

int main()
{
    two_devices();
    cudaStream_t a = stream_on(0), b = stream_on(1);
    int *p = array_on(0), *q = array_on(1);
    cudaEvent_t e;
    on(1);
    CHECK(cudaEventCreateWithFlags(&e, cudaEventDisableTiming));
    fill_on(1, b, q);
    on(1);
    CHECK(cudaEventRecord(e, b));
    on(0);
    CHECK(cudaStreamWaitEvent(a, e, 0));
    CHECK(cudaMemcpyPeerAsync(p, 0, q, 1, BYTES, a));
    increment_on(0, a, p);
    return finish_both();
}
