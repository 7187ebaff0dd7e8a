// verdict: none
// Shared memory belongs to a block: two kernels that use it do not meet there.
#include "program.h"

__global__ void reverse(int *out, const int *in)
{
    __shared__ int tile[BLOCK];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    tile[threadIdx.x] = in[i];
    __syncthreads();
    out[i] = tile[BLOCK - 1 - threadIdx.x];
}

int main()
{
    int *p = device_array<int>();
    CHECK(cudaMemset(p, 0, BYTES));
    CHECK(cudaDeviceSynchronize());
    for (int i = 0; i < 2; i++)
        reverse<<<GRID, BLOCK, 0, nonblocking_stream()>>>(device_array<int>(), p);
    CHECK(cudaGetLastError());
    return finish();
}
