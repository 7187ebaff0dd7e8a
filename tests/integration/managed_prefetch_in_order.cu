// verdict: none
// cuda: 13
// A prefetch takes its turn: an event behind it covers what is before it.
#include "managed.h"

int main()
{
    int *p = managed();
    cudaStream_t a = nonblocking_stream(), b = nonblocking_stream();
    cudaEvent_t e = event_create();
    size_t bytes = BYTES, first = 0;
    void *range = p;
    cudaMemLocation location = first_device();
    launch_fill(a, p);
    CHECK(cudaMemPrefetchBatchAsync(&range, &bytes, 1, &location, &first, 1, 0, a));
    CHECK(cudaEventRecord(e, a));
    CHECK(cudaStreamWaitEvent(b, e, 0));
    launch_increment(b, p);
    return finish();
}
