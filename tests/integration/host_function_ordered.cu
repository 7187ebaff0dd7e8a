// verdict: none
// A host function runs in the order of its stream.
#include "program.h"

static void read_result(void *host)
{
    csan_host_reads(host, BYTES);
}

int main()
{
    int *host, *p = device_array<int>();
    CHECK(cudaMallocHost((void **)&host, BYTES));
    cudaStream_t a = nonblocking_stream();
    launch_fill(a, p);
    CHECK(cudaMemcpyAsync(host, p, BYTES, cudaMemcpyDeviceToHost, a));
    CHECK(cudaLaunchHostFunc(a, read_result, host));
    return finish();
}
