// link: -lcuda
// ways: run run-static
// verdict: none
// An event of the primary context covers its green ones, and a wait of it is theirs.
#include "green.h"

int main()
{
    greens_create();
    int *p = device_array<int>();
    cudaStream_t a = green_stream(0), b = green_stream(1);
    cudaEvent_t e = event_create();
    launch_fill(a, p);
    DRIVER_CHECK(cuCtxRecordEvent(primary, e));
    DRIVER_CHECK(cuCtxWaitEvent(primary, e));
    launch_increment(b, p);
    return finish();
}
