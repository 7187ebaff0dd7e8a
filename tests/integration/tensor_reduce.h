// Reductions by Hopper's bulk copies (TMA): tiles of shared memory are added to a matrix.
#pragma once

#include "tensor_copy.h"

__device__ inline void bulk_done()
{
    asm volatile("cp.async.bulk.commit_group;\ncp.async.bulk.wait_group 0;" ::: "memory");
}

// Each block adds `value`, `value` + 1, ... to its tile of the tensor.
__global__ void add_tiles(const __grid_constant__ CUtensorMap to, int value)
{
    __shared__ alignas(128) int tile[TILE][TILE];
    for (int i = threadIdx.x; i < TILE * TILE; i += blockDim.x)
        tile[i / TILE][i % TILE] = value + i;
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    __syncthreads();
    if (threadIdx.x == 0) {
        asm volatile("cp.reduce.async.bulk.tensor.2d.global.shared::cta.add.tile.bulk_group "
                     "[%0, {%1, %2}], [%3];" ::"l"(&to),
                     "r"(blockIdx.x * TILE), "r"(blockIdx.y * TILE), "r"(shared_address(tile))
                     : "memory");
        bulk_done();
    }
}
