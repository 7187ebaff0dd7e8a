// verdict: race
// expect: , 1 race,
// expect: bad_invalidated_capture.cu:{last}
// A capture of two streams that is invalidated: what goes on in it fails, nothing of it is work,
// and both streams work as before once it has ended.
#include "expect.h"
#include "graph.h"

int main()
{
    int *p = device_array<int>(), *q = device_array<int>();
    cudaStream_t a = nonblocking_stream(), b = nonblocking_stream();
    cudaEvent_t event = event_create();
    cudaGraph_t graph = nullptr;
    begin_capture(a);
    stream_follows(b, a);
    launch_fill(a, p);
    launch_fill(b, p); // of a capture that comes to nothing: no race
    EXPECT(cudaStreamSynchronize(b), cudaErrorStreamCaptureUnsupported);
    fill<<<GRID, BLOCK, 0, a>>>(p, 1, N);
    EXPECT(cudaGetLastError(), cudaErrorStreamCaptureInvalidated);
    EXPECT(cudaMemsetAsync(p, 0, BYTES, b), cudaErrorStreamCaptureInvalidated);
    EXPECT(cudaEventRecord(event, b), cudaErrorStreamCaptureInvalidated);
    EXPECT(cudaStreamEndCapture(a, &graph), cudaErrorStreamCaptureInvalidated);
    if (graph)
        return 103;

    launch_fill(a, p);
    stream_follows(b, a);
    launch_increment(b, p);
    launch_fill(a, q);
    launch_increment(b, q); // at: last
    return finish();
}
