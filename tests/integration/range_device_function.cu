// verdict: none
// options: trace=0
// The writes are in functions that the kernel calls, with a pointer made by one and used by
// another.
#include "program.h"

__device__ __noinline__ int *part_start(int *p, int part, int size)
{
    return p + part * size;
}

__device__ __noinline__ void put(int *where, int index, int value)
{
    where[index] = value;
}

__global__ void fill_part(int *p, int part, int size)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < size)
        put(part_start(p, part, size), i, i);
}

int main()
{
    int *p = device_array<int>();
    for (int part = 0; part < 4; part++)
        fill_part<<<3, 100, 0, nonblocking_stream()>>>(p, part, N / 4);
    CHECK(cudaGetLastError());
    return finish();
}
