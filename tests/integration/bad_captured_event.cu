// verdict: race
// expect: , 1 race,
// expect: bad_captured_event.cu:{early}
// An event that a capture recorded, waited for outside: an error, and no order, not even the one
// that the event stood for before. Recorded anew outside it is an event like any other.
#include "expect.h"
#include "graph.h"

int main()
{
    int *p = device_array<int>(), *q = device_array<int>();
    cudaStream_t a = nonblocking_stream(), b = nonblocking_stream(), c = nonblocking_stream();
    cudaEvent_t event = event_create();
    launch_fill(b, p);
    CHECK(cudaEventRecord(event, b));
    begin_capture(a);
    launch_fill(a, q);
    CHECK(cudaEventRecord(event, a));
    cudaGraph_t graph = end_capture(a);
    EXPECT(cudaStreamWaitEvent(c, event, 0), cudaErrorInvalidValue);
    EXPECT(cudaEventQuery(event), cudaErrorInvalidValue);
    launch_increment(c, p); // at: early
    CHECK(cudaDeviceSynchronize());

    launch_fill(b, p);
    CHECK(cudaEventRecord(event, b));
    CHECK(cudaStreamWaitEvent(c, event, 0));
    launch_increment(c, p);
    CHECK(cudaGraphDestroy(graph));
    return finish();
}
