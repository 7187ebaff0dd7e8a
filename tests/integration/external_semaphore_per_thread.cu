// verdict: none
// skip: gpu
// cuda: 13
// flags: -default-stream per-thread
// The default stream of the thread signals, and another one waits, then the other way about.
#include "external_semaphore.h"

int main()
{
    cudaStream_t other = nonblocking_stream();
    const Timeline timeline = timeline_make();
    int *p = device_array<int>(N);
    fill<<<GRID, BLOCK>>>(p, 1, N);
    timeline_signal(timeline, 1, nullptr);
    timeline_wait(timeline, 1, other);
    increment<<<GRID, BLOCK, 0, other>>>(p, N);
    timeline_signal(timeline, 2, other);
    timeline_wait(timeline, 2, nullptr);
    increment<<<GRID, BLOCK>>>(p, N);
    CHECK(cudaStreamSynchronize(other));
    CHECK(cudaStreamSynchronize(nullptr));
    CHECK(cudaDestroyExternalSemaphore(timeline.handle));
    return finish();
}
