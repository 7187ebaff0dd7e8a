// verdict: none
// cuda: 13
// A batch of copies comes in stream order.
#include "batch.h"

int main()
{
    int *p = device_array<int>(), *q = device_array<int>(), *r = device_array<int>();
    int *s = device_array<int>();
    cudaStream_t a = nonblocking_stream(), b = nonblocking_stream();
    cudaEvent_t e = event_create();
    launch_fill(a, p);
    copy_two(a, r, p, s, q);
    launch_increment(a, r);
    CHECK(cudaEventRecord(e, a));
    CHECK(cudaStreamWaitEvent(b, e, 0));
    launch_increment(b, s);
    return finish();
}
