// verdict: race
// options: trace=0
// gpu: race
// expect: Overlap: 4096 bytes, 0 to 4095 of the 8192
// reject: Overlap: 8192
// As range_ping_pong, but the kernel waits for the half to be filled, not for it to be taken: of
// the first half the next contents come over those which are still copied out.
#include "program.h"

int main()
{
    int *p = device_array<int>(2 * N), *host;
    CHECK(cudaMallocHost((void **)&host, BYTES));
    cudaStream_t compute = nonblocking_stream(), copies = nonblocking_stream();
    cudaEvent_t filled[2] = {event_create(), event_create()};
    for (int step = 0; step < 3; step++) {
        int half = step % 2;
        CHECK(cudaStreamWaitEvent(compute, filled[half], 0));
        launch_fill(compute, p + half * N, step);
        CHECK(cudaEventRecord(filled[half], compute));
        CHECK(cudaStreamWaitEvent(copies, filled[half], 0));
        CHECK(cudaMemcpyAsync(host, p + half * N, BYTES, cudaMemcpyDeviceToHost, copies));
    }
    return finish();
}
