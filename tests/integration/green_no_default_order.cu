// link: -lcuda
// ways: run run-static
// verdict: race
// Streams of green contexts take no part in the order with the default stream.
#include "green.h"

int main()
{
    greens_create();
    int *p = device_array<int>();
    cudaStream_t a = green_stream(0), b = green_stream(1);
    cudaEvent_t e = event_create();
    launch_fill(a, p);
    launch_fill(nullptr, p);
    (void)b, (void)e;
    return finish();
}
