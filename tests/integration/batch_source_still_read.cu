// verdict: race
// cuda: 13
// As batch_source_during_call, but in stream order, as any asynchronous copy.
#include "batch.h"

int main()
{
    int *p = device_array<int>(), *q = device_array<int>(), *r = device_array<int>();
    int *s = device_array<int>();
    cudaStream_t a = nonblocking_stream(), b = nonblocking_stream();
    static int from[N];
    csan_host_writes(from, sizeof from);
    copy_two(a, r, p, s, from);
    csan_host_writes(from, sizeof from);
    return finish();
}
