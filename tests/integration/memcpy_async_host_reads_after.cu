// verdict: none
// The host waits for an event after the copy, then reads.
#include "program.h"

int main()
{
    int *host, *p = device_array<int>();
    CHECK(cudaMallocHost((void **)&host, BYTES));
    cudaStream_t a = nonblocking_stream();
    cudaEvent_t e = event_create();
    launch_fill(a, p);
    CHECK(cudaMemcpyAsync(host, p, BYTES, cudaMemcpyDeviceToHost, a));
    CHECK(cudaEventRecord(e, a));
    CHECK(cudaEventSynchronize(e));
    csan_host_reads(host, BYTES);
    if (host[3] != 4)
        printf("wrong: %d\n", host[3]);
    return finish();
}
