// verdict: race
// options: trace=0
// gpu: race
// expect: Overlap: 4 bytes, 3072 to 3075 of the 4096
// expect: , 1 race, 0 possible races
// As range_device_function, the third part one element too long.
#include "program.h"

__device__ __noinline__ int *part_start(int *p, int part, int size)
{
    return p + part * size;
}

__device__ __noinline__ void put(int *where, int index, int value)
{
    where[index] = value;
}

__global__ void fill_part(int *p, int part, int size, int more)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < size + more)
        put(part_start(p, part, size), i, i);
}

int main()
{
    int *p = device_array<int>();
    for (int part = 0; part < 4; part++)
        fill_part<<<3, 100, 0, nonblocking_stream()>>>(p, part, N / 4, part == 2);
    CHECK(cudaGetLastError());
    return finish();
}
