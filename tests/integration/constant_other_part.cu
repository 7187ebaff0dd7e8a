// verdict: none
// gpu: any
// expect: 1 traced
// The index into a __constant__ table comes from memory, so PTX says only that the kernel may read
// any part. The trace has the part that it reads. The other one is copied meanwhile.
#include "program.h"

__constant__ int table[64];

__global__ void look_up(int *out, const int *index)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = table[index[i]];
}

int main()
{
    int *out = device_array<int>(), *index = device_array<int>(), *host;
    cudaStream_t upload = nonblocking_stream(), work = nonblocking_stream();
    const size_t half = sizeof table / 2;
    CHECK(cudaMallocHost(&host, half));
    memset(host, 0, half);
    CHECK(cudaMemset(index, 0, BYTES));
    CHECK(cudaDeviceSynchronize());
    const cudaMemcpyKind up = cudaMemcpyHostToDevice;
    CHECK(cudaMemcpyToSymbolAsync(table, host, half, half, up, upload));
    look_up<<<GRID, BLOCK, 0, work>>>(out, index);
    CHECK(cudaGetLastError());
    return finish();
}
