// verdict: race
// cuda: 13
// Discarding while another stream reads.
#include "managed.h"

int main()
{
    int *p = managed();
    cudaStream_t a = nonblocking_stream(), b = nonblocking_stream();
    int *out = device_array<int>();
    size_t bytes = BYTES;
    void *range = p;
    launch_fill(a, p);
    CHECK(cudaStreamSynchronize(a));
    launch_copy(a, out, p);
    CHECK(cudaMemDiscardBatchAsync(&range, &bytes, 1, 0, b));
    return finish();
}
