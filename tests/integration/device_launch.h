// Kernels that launch kernels.
#pragma once

#include "program.h"

__global__ void put(int *p, int n, int value)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        p[i] = value + i;
}

__global__ void twice(const int *p, int *q, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        q[i] = 2 * p[i];
}

static inline void check_values(const int *device, int factor, int value)
{
    int host[N];
    CHECK(cudaMemcpy(host, device, BYTES, cudaMemcpyDeviceToHost));
    for (int i = 0; i < N; i++)
        if (host[i] != factor * (value + i)) {
            printf("%d: %d\n", i, host[i]);
            return;
        }
}
