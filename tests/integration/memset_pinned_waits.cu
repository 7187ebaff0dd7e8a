// verdict: none
// cudaMemset of pinned memory does make the host wait.
#include "program.h"

int main()
{
    int *host, *p = device_array<int>();
    CHECK(cudaMallocHost((void **)&host, BYTES));
    cudaStream_t a = nonblocking_stream();
    CHECK(cudaMemset(host, 0, BYTES));
    csan_host_reads(host, BYTES);
    CHECK(cudaMemcpyAsync(p, host, BYTES, cudaMemcpyHostToDevice, a));
    return finish();
}
