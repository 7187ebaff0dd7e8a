// verdict: race
// cuda: 13
// The source may be read before the work that the stream was given earlier.
#include "batch.h"

int main()
{
    int *p = device_array<int>(), *q = device_array<int>(), *r = device_array<int>();
    int *s = device_array<int>();
    cudaStream_t a = nonblocking_stream(), b = nonblocking_stream();
    launch_fill(a, p);
    copy_two(a, r, p, s, q, cudaMemcpySrcAccessOrderAny);
    return finish();
}
