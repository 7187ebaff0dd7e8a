// verdict: race
// expect: the host's load \(.*\) does not wait for cudaMemcpyAsync \(.*:{copy}\)
// expect: Cause: the event that the host waits for \(.*:{wait}\) was recorded \(.*:{record}\) before cudaMemcpyAsync \(.*:{copy}\) was enqueued; a wait covers only what was enqueued before the record\.
// expect: Fix: record the event on stream A after cudaMemcpyAsync \(.*:{copy}\), and make the host wait for it after that
// options: host=guard
// content: none
// The event is recorded between the kernel and the copy of its result, so the host waits for the
// kernel alone.
#include "host_memory.h"

int main()
{
    int *device = device_array<int>(HOST_N), *host = pinned_memory();
    cudaStream_t stream = nonblocking_stream();
    cudaEvent_t done = event_create();
    launch_fill(stream, device, 1, HOST_N);
    CHECK(cudaEventRecord(done, stream));                                             // at: record
    CHECK(cudaMemcpyAsync(host, device, HOST_BYTES, cudaMemcpyDeviceToHost, stream)); // at: copy
    CHECK(cudaEventSynchronize(done));                                                // at: wait
    load(&host[5]);
    return finish();
}
