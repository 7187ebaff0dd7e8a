// verdict: race
// skip: gpu
// cuda: 13
// The second stream waits for another semaphore than the first one signals.
#include "external_semaphore.h"

int main()
{
    cudaStream_t a = nonblocking_stream(), b = nonblocking_stream();
    const Timeline timeline = timeline_make(), other = timeline_make();
    *other.value = 1;
    int *p = device_array<int>(N);
    fill<<<GRID, BLOCK, 0, a>>>(p, 1, N);
    timeline_signal(timeline, 1, a);
    timeline_wait(other, 1, b);
    increment<<<GRID, BLOCK, 0, b>>>(p, N);
    return finish();
}
