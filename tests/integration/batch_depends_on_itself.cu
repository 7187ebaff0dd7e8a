// verdict: race
// cuda: 13
// The second copy reads what the first one writes, and nothing orders the copies of a batch.
#include "batch.h"

int main()
{
    int *p = device_array<int>(), *q = device_array<int>(), *r = device_array<int>();
    int *s = device_array<int>();
    cudaStream_t a = nonblocking_stream(), b = nonblocking_stream();
    copy_two(a, q, p, r, q);
    return finish();
}
