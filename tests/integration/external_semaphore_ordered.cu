// verdict: none
// skip: gpu
// cuda: 13
// A stream waits for the value that the other one signals, and then for the host's.
#include "external_semaphore.h"

int main()
{
    cudaStream_t a = nonblocking_stream(), b = nonblocking_stream();
    const Timeline timeline = timeline_make();
    int *p = device_array<int>(N);
    fill<<<GRID, BLOCK, 0, a>>>(p, 1, N);
    timeline_signal(timeline, 1, a);
    timeline_wait(timeline, 1, b);
    increment<<<GRID, BLOCK, 0, b>>>(p, N);
    timeline_wait(timeline, 5, b);
    CHECK(cudaStreamSynchronize(a));
    if (*timeline.value != 1)
        printf("not signalled: %llu\n", *timeline.value);
    *timeline.value = 5; // as the other interface does
    CHECK(cudaStreamSynchronize(b));
    CHECK(cudaDestroyExternalSemaphore(timeline.handle));
    return finish();
}
