// devices: 2
// verdict: race
// As devices_event_orders, recorded before the write.
#include "devices.h"

int main()
{
    two_devices();
    cudaStream_t a = stream_on(0), b = stream_on(1);
    int *p = array_on(0), *q = array_on(1);
    cudaEvent_t e = event_create();
    CHECK(cudaEventRecord(e, a));
    fill_on(0, a, p);
    CHECK(cudaStreamWaitEvent(b, e, 0));
    increment_on(1, b, p);
    (void)q;
    return finish_both();
}
