// verdict: race
// expect: since cuMemcpyDtoHAsync made the host wait there, but nothing promises it
// A copy with Async to pageable memory makes the host wait on every GPU seen so far, and nothing
// promises it: the race is reported, and the report says why it may never show.
#include "program.h"

int main()
{
    static int host[N];
    int *p = device_array<int>();
    cudaStream_t a = nonblocking_stream();
    launch_fill(a, p);
    CHECK(cudaMemcpyAsync(host, p, BYTES, cudaMemcpyDeviceToHost, a));
    csan_host_reads(host, BYTES);
    return finish();
}
