// verdict: none
// options: trace=0
// Of the same elements one stream writes those of even blocks, one those of the low threads of odd
// blocks, and one those of the high threads.
#include "program.h"

__global__ void even_blocks(int *p)
{
    if (blockIdx.x % 2)
        return;
    p[blockIdx.x * blockDim.x + threadIdx.x] = 1;
}

__global__ void odd_blocks_low(int *p)
{
    if ((blockIdx.x & 1) && threadIdx.x < 20)
        p[blockIdx.x * blockDim.x + threadIdx.x] = 2;
}

__global__ void odd_blocks_high(int *p)
{
    int block = 2 * blockIdx.x + 1, thread = 20 + threadIdx.x;
    p[block * 64 + thread] = 3;
}

int main()
{
    int *p = device_array<int>();
    even_blocks<<<N / 64, 64, 0, nonblocking_stream()>>>(p);
    odd_blocks_low<<<N / 64, 64, 0, nonblocking_stream()>>>(p);
    odd_blocks_high<<<N / 128, 44, 0, nonblocking_stream()>>>(p);
    CHECK(cudaGetLastError());
    return finish();
}
