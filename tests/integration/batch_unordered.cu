// verdict: race
// cuda: 13
// expect: batch.h
// expect: cudaMemcpyBatchAsync|cuMemcpyBatchAsync
// A batch of copies, and a kernel in another stream that writes one of the sources.
#include "batch.h"

int main()
{
    int *p = device_array<int>(), *q = device_array<int>(), *r = device_array<int>();
    int *s = device_array<int>();
    cudaStream_t a = nonblocking_stream(), b = nonblocking_stream();
    copy_two(a, r, p, s, q); // at: batch
    launch_fill(b, q);
    return finish();
}
