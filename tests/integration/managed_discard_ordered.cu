// verdict: none
// cuda: 13
// Discarded behind the last read, and written anew.
#include "managed.h"

int main()
{
    int *p = managed();
    cudaStream_t a = nonblocking_stream(), b = nonblocking_stream();
    int *out = device_array<int>();
    size_t bytes = BYTES, first = 0;
    void *range = p;
    cudaMemLocation location = first_device();
    launch_fill(a, p);
    launch_copy(a, out, p);
    CHECK(cudaMemDiscardBatchAsync(&range, &bytes, 1, 0, a));
    launch_fill(a, p);
    CHECK(cudaMemDiscardAndPrefetchBatchAsync(&range, &bytes, 1, &location, &first, 1, 0, a));
    (void)b;
    return finish();
}
