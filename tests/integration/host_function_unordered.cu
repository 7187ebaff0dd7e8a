// verdict: race
// A host function on another stream than the copy whose result it reads.
#include "program.h"

static void read_result(void *host)
{
    csan_host_reads(host, BYTES);
}

int main()
{
    int *host, *p = device_array<int>();
    CHECK(cudaMallocHost((void **)&host, BYTES));
    cudaStream_t a = nonblocking_stream(), b = nonblocking_stream();
    launch_fill(a, p);
    CHECK(cudaMemcpyAsync(host, p, BYTES, cudaMemcpyDeviceToHost, a));
    CHECK(cudaLaunchHostFunc(b, read_result, host));
    return finish();
}
