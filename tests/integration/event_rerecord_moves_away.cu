// verdict: race
// Recorded again on an idle stream, an event forgets the stream it stood for.
#include "program.h"

int main()
{
    int *p = device_array<int>();
    cudaStream_t a = nonblocking_stream(), b = nonblocking_stream(), c = nonblocking_stream();
    cudaEvent_t e = event_create();
    launch_fill(a, p);
    CHECK(cudaEventRecord(e, a));
    CHECK(cudaEventRecord(e, c));
    CHECK(cudaStreamWaitEvent(b, e, 0));
    launch_increment(b, p);
    return finish();
}
