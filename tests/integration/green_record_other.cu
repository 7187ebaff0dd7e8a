// link: -lcuda
// ways: run run-static
// verdict: race
// The event holds what the other green context did.
#include "green.h"

int main()
{
    greens_create();
    int *p = device_array<int>();
    cudaStream_t a = green_stream(0), b = green_stream(1);
    cudaEvent_t e = event_create();
    launch_fill(a, p);
    DRIVER_CHECK(cuGreenCtxRecordEvent(greens[1], e));
    DRIVER_CHECK(cuGreenCtxWaitEvent(greens[1], e));
    launch_increment(b, p);
    return finish();
}
