// verdict: race
// expect: Fix: make the host wait for the event recorded on .*fix_host_waits.cu:{copied}\), with cudaEventSynchronize, before csan_host_writes
// The host fills a buffer again while the copy from it may still read it.
#include "program.h"

int main()
{
    int *p = device_array<int>(), *host;
    CHECK(cudaMallocHost((void **)&host, BYTES));
    cudaStream_t s = nonblocking_stream();
    cudaEvent_t copied = event_create();
    for (int i = 0; i < 3; i++) {
        csan_host_writes(host, BYTES);
        for (int k = 0; k < N; k++)
            host[k] = i + k;
        CHECK(cudaMemcpyAsync(p, host, BYTES, cudaMemcpyHostToDevice, s));
        CHECK(cudaEventRecord(copied, s)); // at: copied
        launch_increment(s, p);
    }
    return finish();
}
