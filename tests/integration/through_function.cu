// verdict: race
// The write is in a function that the kernel calls.
#include "program.h"

__device__ __noinline__ void put(int *where, int value)
{
    *where = value;
}

__global__ void put_all(int *p)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    put(p + i, i);
}

int main()
{
    int *p = device_array<int>();
    cudaStream_t a = nonblocking_stream(), b = nonblocking_stream();
    put_all<<<GRID, BLOCK, 0, a>>>(p);
    put_all<<<GRID, BLOCK, 0, b>>>(p);
    CHECK(cudaGetLastError());
    return finish();
}
