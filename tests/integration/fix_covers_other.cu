// verdict: race
// expect: 2 races, 0 possible races
// The second stream does not wait for the first, and a third one waits for the second: one order in
// front of the second is enough for both.
#include "program.h"

int main()
{
    int *p = device_array<int>(), *q = device_array<int>();
    cudaStream_t a = nonblocking_stream(), b = nonblocking_stream(), c = nonblocking_stream();
    cudaEvent_t copied = event_create();
    launch_fill(a, p);
    launch_copy(b, q, p);
    CHECK(cudaEventRecord(copied, b));
    CHECK(cudaStreamWaitEvent(c, copied, 0));
    launch_increment(c, p);
    return finish();
}
