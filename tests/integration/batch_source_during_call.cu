// verdict: none
// cuda: 13
// A source in pageable memory is read when the call returns; the host writes it again.
#include "batch.h"

int main()
{
    int *p = device_array<int>(), *q = device_array<int>(), *r = device_array<int>();
    int *s = device_array<int>();
    cudaStream_t a = nonblocking_stream(), b = nonblocking_stream();
    static int from[N];
    csan_host_writes(from, sizeof from);
    copy_two(a, r, from, s, from, cudaMemcpySrcAccessOrderDuringApiCall);
    csan_host_writes(from, sizeof from);
    from[0] = 1;
    launch_increment(a, r);
    return finish();
}
