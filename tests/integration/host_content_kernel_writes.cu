// verdict: none
// options: host=content
// Two kernels read the same mapped memory, and the second writes part of it. It may have run by the
// time that csan knows what it touches.
#include "host_memory.h"

__global__ void advance(int *out, int *in, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    out[i] = in[i];
    in[n - 1 - i / 2] = 7;
}

int main()
{
    const int n = 1024;
    int *device = device_array<int>(HOST_N), *host = pinned_memory();
    cudaStream_t stream = nonblocking_stream();
    for (int i = 0; i < HOST_N; i++)
        host[i] = i;
    launch_copy(stream, device, host, n);
    advance<<<1, n, 0, stream>>>(device, host, n);
    CHECK(cudaGetLastError());
    CHECK(cudaStreamSynchronize(stream));
    return finish();
}
