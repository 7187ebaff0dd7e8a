// Kernels that allocate by malloc and new, and leave where in memory of the program.
#pragma once

#include "program.h"

__global__ void make(int **blocks, int count)
{
    int *block = (int *)malloc(count * sizeof(int));
    for (int i = 0; block && i < count; i++)
        block[i] = threadIdx.x * count + i;
    blocks[threadIdx.x] = block;
}

__global__ void sum(int *const *blocks, int count, int *out)
{
    int total = 0;
    for (int i = 0; i < count; i++)
        total += blocks[threadIdx.x][i];
    out[threadIdx.x] = total;
}

__global__ void double_all(int *const *blocks, int count)
{
    for (int i = 0; i < count; i++)
        blocks[threadIdx.x][i] *= 2;
}

__global__ void release(int *const *blocks)
{
    free(blocks[threadIdx.x]);
}
