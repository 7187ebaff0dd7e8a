// verdict: race
// expect: , 1 race,
// expect: bad_handles.cu:{last}
// finding: out of bounds: cudaFree
// skip: gpu
// Handles that never were any: each call fails as the driver has it, with csan and without, and
// leaves streams, events and memory as they were. (A real driver may crash instead.) Of frees csan
// says what is wrong.
#include "expect.h"
#include "graph.h"

int main()
{
    int *p = device_array<int>(), *q = device_array<int>(), *inside = p + 1;
    cudaStream_t a = nonblocking_stream(), b = nonblocking_stream();
    cudaStream_t no_stream = (cudaStream_t)0x1230;
    cudaEvent_t event = event_create(), no_event = (cudaEvent_t)0x1240;
    int host = 0;
    launch_fill(a, p);
    CHECK(cudaEventRecord(event, a));

    EXPECT(cudaStreamSynchronize(no_stream), cudaErrorInvalidResourceHandle);
    EXPECT(cudaStreamQuery(no_stream), cudaErrorInvalidResourceHandle);
    EXPECT(cudaStreamDestroy(no_stream), cudaErrorInvalidResourceHandle);
    EXPECT(cudaStreamWaitEvent(no_stream, event, 0), cudaErrorInvalidResourceHandle);
    EXPECT(cudaStreamWaitEvent(b, no_event, 0), cudaErrorInvalidResourceHandle);
    EXPECT(cudaEventRecord(no_event, a), cudaErrorInvalidResourceHandle);
    EXPECT(cudaEventRecord(event, no_stream), cudaErrorInvalidResourceHandle);
    EXPECT(cudaEventSynchronize(no_event), cudaErrorInvalidResourceHandle);
    EXPECT(cudaEventQuery(no_event), cudaErrorInvalidResourceHandle);
    EXPECT(cudaEventDestroy(no_event), cudaErrorInvalidResourceHandle);
    EXPECT(cudaStreamBeginCapture(no_stream, cudaStreamCaptureModeGlobal),
           cudaErrorInvalidResourceHandle);
    EXPECT(cudaMemsetAsync(q, 0, BYTES, no_stream), cudaErrorInvalidResourceHandle);
    EXPECT(cudaMemcpyAsync(q, &host, 4, cudaMemcpyHostToDevice, no_stream),
           cudaErrorInvalidResourceHandle);
    EXPECT(cudaLaunchHostFunc(
               no_stream, [](void *) { abort(); }, nullptr),
           cudaErrorInvalidResourceHandle);
    fill<<<GRID, BLOCK, 0, no_stream>>>(q, 1, N);
    EXPECT(cudaGetLastError(), cudaErrorInvalidResourceHandle);
    EXPECT(cudaFree(inside), cudaErrorInvalidValue);
    EXPECT(cudaFreeAsync(inside, b), cudaErrorInvalidValue);
    EXPECT(cudaFreeHost(&host), cudaErrorInvalidValue);

    CHECK(cudaStreamWaitEvent(b, event, 0));
    launch_increment(b, p);
    launch_fill(a, q);
    launch_increment(b, q); // at: last
    return finish();
}
