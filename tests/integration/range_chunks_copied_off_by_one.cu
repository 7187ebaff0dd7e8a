// verdict: race
// options: trace=0
// gpu: race
// expect: Overlap: 4 bytes, 2048 to 2051 of the 4096
// expect: , 1 race, 0 possible races
// As range_chunks_copied with two chunks: the first kernel reaches one element into the second
// chunk, which its stream's copy is still filling.
#include "program.h"

__global__ void double_part(int *p, int first, int end)
{
    int i = first + blockIdx.x * blockDim.x + threadIdx.x;
    if (i <= end)
        p[i] *= 2;
}

int main()
{
    int *p = device_array<int>(), *host;
    CHECK(cudaMallocHost((void **)&host, BYTES));
    memset(host, 0, BYTES);
    cudaStream_t a = nonblocking_stream(), b = nonblocking_stream();
    CHECK(cudaMemcpyAsync(p + N / 2, host + N / 2, BYTES / 2, cudaMemcpyHostToDevice, b));
    CHECK(cudaMemcpyAsync(p, host, BYTES / 2, cudaMemcpyHostToDevice, a));
    double_part<<<5, 128, 0, a>>>(p, 0, N / 2);
    CHECK(cudaGetLastError());
    return finish();
}
