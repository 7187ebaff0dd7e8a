// verdict: race
// reject: nothing promises it
// The host reads the result of an asynchronous copy without waiting for it.
#include "program.h"

int main()
{
    int *host, *p = device_array<int>();
    CHECK(cudaMallocHost((void **)&host, BYTES));
    cudaStream_t a = nonblocking_stream();
    launch_fill(a, p);
    CHECK(cudaMemcpyAsync(host, p, BYTES, cudaMemcpyDeviceToHost, a));
    csan_host_reads(host, BYTES);
    return finish();
}
