// flags: -arch=sm_90
// verdict: none
// With an event recorded between the two the stream is in order.
#include "programmatic.h"

int main()
{
    int *p = device_array<int>(), *out = device_array<int>();
    cudaStream_t s = nonblocking_stream();
    cudaEvent_t e = event_create();
    launch_fill_and_let(s, p);
    CHECK(cudaEventRecord(e, s));
    launch_beside(s, copy, out, p, N);
    return finish();
}
