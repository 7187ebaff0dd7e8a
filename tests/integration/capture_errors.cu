// verdict: race
// expect: capture_errors.cu:{first}
// reject: not checked
// Under csan the program sees the driver's own errors, and what csan knows stays right: after each
// failure the streams are what they were, and the race at the end is still the only one.
#include "expect.h"
#include "graph.h"

static void ends_invalidated(cudaStream_t a)
{
    cudaGraph_t graph = nullptr;
    EXPECT(cudaStreamEndCapture(a, &graph), cudaErrorStreamCaptureInvalidated);
    if (graph)
        exit(103);
}

int main()
{
    int *p = device_array<int>();
    cudaStream_t a = nonblocking_stream(), b = nonblocking_stream(), c = blocking_stream();
    cudaEvent_t event = event_create(), outside = event_create();
    cudaGraph_t graph;

    // synchronizing or asking for what is captured
    begin_capture(a);
    EXPECT(cudaStreamSynchronize(a), cudaErrorStreamCaptureUnsupported);
    ends_invalidated(a);
    begin_capture(a);
    EXPECT(cudaStreamQuery(a), cudaErrorStreamCaptureUnsupported);
    ends_invalidated(a);
    begin_capture(a);
    EXPECT(cudaDeviceSynchronize(), cudaErrorStreamCaptureUnsupported);
    ends_invalidated(a);

    // an event of a capture, outside: while it lasts and afterwards
    begin_capture(a);
    CHECK(cudaEventRecord(event, a));
    EXPECT(cudaEventSynchronize(event), cudaErrorCapturedEvent);
    ends_invalidated(a);

    // work outside, waited for in a capture
    launch_fill(b, p); // at: first
    CHECK(cudaEventRecord(outside, b));
    begin_capture(a);
    EXPECT(cudaStreamWaitEvent(a, outside, 0), cudaErrorStreamCaptureIsolation);
    ends_invalidated(a);

    // the legacy stream while a blocking stream is captured
    begin_capture(c);
    EXPECT(cudaMemsetAsync(p, 0, 0 + 4, 0), cudaErrorStreamCaptureImplicit);
    ends_invalidated(c);

    // a fork that is not joined
    begin_capture(a);
    stream_follows(b, a);
    launch_fill(b, p);
    EXPECT(cudaStreamEndCapture(a, &graph), cudaErrorStreamCaptureUnjoined);

    // ended where it never began
    EXPECT(cudaStreamEndCapture(a, &graph), cudaErrorIllegalState);

    // graphs that are none any more
    begin_capture(a);
    launch_fill(a, p);
    CHECK(cudaStreamEndCapture(a, &graph));
    cudaGraphExec_t exec = instantiate(graph);
    CHECK(cudaGraphExecDestroy(exec));
    CHECK(cudaGraphDestroy(graph));

    launch_increment(a, p);
    return finish();
}
