// link: -lcuda
// ways: run run-static
// verdict: none
// A stream that is created after its context's wait.
#include "green.h"

int main()
{
    greens_create();
    int *p = device_array<int>();
    cudaStream_t a = green_stream(0), b = green_stream(1);
    cudaEvent_t e = event_create();
    launch_fill(a, p);
    DRIVER_CHECK(cuGreenCtxRecordEvent(greens[0], e));
    DRIVER_CHECK(cuGreenCtxWaitEvent(greens[1], e));
    launch_increment(green_stream(1), p);
    (void)b;
    return finish();
}
