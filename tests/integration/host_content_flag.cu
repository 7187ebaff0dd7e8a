// verdict: none
// options: host=content
// A kernel behind the copy raises a flag in mapped memory. The host looks at it until it is there,
// and refills the source: csan cannot see that order, and says nothing.
#include "host_memory.h"

__global__ void raise(int *flag)
{
    atomicExch(flag, 1);
}

int main()
{
    int *device = device_array<int>(HOST_N), *host = pinned_memory(), *flag = pinned_memory();
    cudaStream_t stream = nonblocking_stream();
    CHECK(cudaMemcpyAsync(device, host, HOST_BYTES, cudaMemcpyHostToDevice, stream));
    raise<<<1, 1, 0, stream>>>(flag);
    CHECK(cudaGetLastError());
    while (*(volatile int *)flag == 0)
        ;
    memset(host, 1, HOST_BYTES);
    return finish();
}
