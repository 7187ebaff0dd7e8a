// verdict: none
// options: trace=0
// Two halves of one buffer in turn: while one is copied out, the kernel fills the other.
#include "program.h"

int main()
{
    int *p = device_array<int>(2 * N), *host;
    CHECK(cudaMallocHost((void **)&host, BYTES));
    cudaStream_t compute = nonblocking_stream(), copies = nonblocking_stream();
    cudaEvent_t filled[2] = {event_create(), event_create()};
    cudaEvent_t taken[2] = {event_create(), event_create()};
    for (int step = 0; step < 6; step++) {
        int half = step % 2;
        CHECK(cudaStreamWaitEvent(compute, taken[half], 0));
        launch_fill(compute, p + half * N, step);
        CHECK(cudaEventRecord(filled[half], compute));
        CHECK(cudaStreamWaitEvent(copies, filled[half], 0));
        CHECK(cudaMemcpyAsync(host, p + half * N, BYTES, cudaMemcpyDeviceToHost, copies));
        CHECK(cudaEventRecord(taken[half], copies));
    }
    return finish();
}
