// link: -lcuda
// ways: run run-static
// verdict: none
// An event of one green context, waited for in a stream of the other.
#include "green.h"

int main()
{
    greens_create();
    int *p = device_array<int>();
    cudaStream_t a = green_stream(0), b = green_stream(1);
    cudaEvent_t e = event_create();
    launch_fill(a, p);
    CHECK(cudaEventRecord(e, a));
    CHECK(cudaStreamWaitEvent(b, e, 0));
    launch_increment(b, p);
    return finish();
}
