// verdict: race
// flags: -rdc=true
// unit: relocatable_part.cu
// Compiled with -rdc=true: kernel and the function it calls are in two units.
#include "program.h"

extern __device__ int part_value(int i);
extern __device__ int part_offset;

__global__ void part_fill(int *p)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    p[i] = part_value(i) + part_offset;
}

int main()
{
    int *p = device_array<int>();
    cudaStream_t a = nonblocking_stream(), b = nonblocking_stream();
    part_fill<<<GRID, BLOCK, 0, a>>>(p);
    part_fill<<<GRID, BLOCK, 0, b>>>(p);
    CHECK(cudaGetLastError());
    return finish();
}
