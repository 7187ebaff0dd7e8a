// verdict: race
// expect: memcpy_symbol_unordered.cu:{second}
// A copy to a __device__ variable while a kernel reads it.
#include "program.h"

__device__ int table[N];

__global__ void read_table(int *out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = table[i];
}

int main()
{
    int *host, *out = device_array<int>();
    CHECK(cudaMallocHost((void **)&host, BYTES));
    memset(host, 0, BYTES);
    cudaStream_t a = nonblocking_stream(), b = nonblocking_stream();
    read_table<<<GRID, BLOCK, 0, a>>>(out);
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpyToSymbolAsync(table, host, BYTES, 0, cudaMemcpyHostToDevice, b)); // at: second
    return finish();
}
