// devices: 2
// verdict: none
// An event of one device, waited for in a stream of the other.
#include "devices.h"

int main()
{
    two_devices();
    cudaStream_t a = stream_on(0), b = stream_on(1);
    int *p = array_on(0), *q = array_on(1);
    cudaEvent_t e = event_create();
    fill_on(0, a, p);
    CHECK(cudaEventRecord(e, a));
    CHECK(cudaStreamWaitEvent(b, e, 0));
    increment_on(1, b, p);
    (void)q;
    return finish_both();
}
