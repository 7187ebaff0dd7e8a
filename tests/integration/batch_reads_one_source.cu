// verdict: none
// cuda: 13
// Two copies of a batch read the same bytes.
#include "batch.h"

int main()
{
    int *p = device_array<int>(), *q = device_array<int>(), *r = device_array<int>();
    int *s = device_array<int>();
    cudaStream_t a = nonblocking_stream(), b = nonblocking_stream();
    copy_two(a, q, p, r, p);
    return finish();
}
