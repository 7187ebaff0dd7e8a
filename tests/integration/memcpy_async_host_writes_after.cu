// verdict: none
// The host waits for the copy, then fills the pinned buffer again.
#include "program.h"

int main()
{
    int *host, *p = device_array<int>();
    CHECK(cudaMallocHost((void **)&host, BYTES));
    csan_host_writes(host, BYTES);
    memset(host, 0, BYTES);
    cudaStream_t a = nonblocking_stream();
    CHECK(cudaMemcpyAsync(p, host, BYTES, cudaMemcpyHostToDevice, a));
    CHECK(cudaStreamSynchronize(a));
    csan_host_writes(host, BYTES);
    memset(host, 1, BYTES);
    return finish();
}
