// verdict: none
// Atomic updates of the same bytes order themselves.
#include "program.h"

__global__ void count(int *p)
{
    atomicAdd(&p[threadIdx.x % 8], 1);
}

int main()
{
    int *p = device_array<int>();
    CHECK(cudaMemset(p, 0, BYTES));
    CHECK(cudaDeviceSynchronize());
    cudaStream_t a = nonblocking_stream(), b = nonblocking_stream();
    count<<<GRID, BLOCK, 0, a>>>(p);
    count<<<GRID, BLOCK, 0, b>>>(p);
    CHECK(cudaGetLastError());
    return finish();
}
