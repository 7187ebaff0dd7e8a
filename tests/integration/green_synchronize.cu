// link: -lcuda
// ways: run run-static
// verdict: none
// Synchronizing the primary context waits for green ones, too.
#include "green.h"

int main()
{
    greens_create();
    int *p = device_array<int>();
    cudaStream_t a = green_stream(0), b = green_stream(1);
    cudaEvent_t e = event_create();
    launch_fill(a, p);
    CHECK(cudaDeviceSynchronize());
    launch_increment(b, p);
    (void)e;
    return finish();
}
