// Tensor copies of Hopper (TMA): a tile of a matrix to shared memory, and back elsewhere.
#pragma once

#include "bulk_barrier.h"
#include "tiled_map.h"

enum { ROWS = 40, COLUMNS = 64, TILE = 16 };

// Each block adds 1 to a tile of the tensor `from` and writes it to `to`.
__global__ void move_tiles(const __grid_constant__ CUtensorMap from,
                           const __grid_constant__ CUtensorMap to)
{
    __shared__ alignas(128) int tile[TILE][TILE];
    __shared__ alignas(8) uint64_t barrier;
    int x = blockIdx.x * TILE, y = blockIdx.y * TILE;
    if (threadIdx.x == 0)
        bulk_barrier_begin(&barrier);
    __syncthreads();
    if (threadIdx.x == 0) {
        bulk_barrier_expect(&barrier, sizeof tile);
        asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::"
                     "bytes [%0], [%1, {%2, %3}], [%4];" ::"r"(shared_address(tile)),
                     "l"(&from), "r"(x), "r"(y), "r"(shared_address(&barrier))
                     : "memory");
    }
    bulk_barrier_wait(&barrier);
    for (int i = threadIdx.x; i < TILE * TILE; i += blockDim.x)
        tile[i / TILE][i % TILE] += 1;
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    __syncthreads();
    if (threadIdx.x == 0) {
        asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%0, {%1, %2}], "
                     "[%3];" ::"l"(&to),
                     "r"(x), "r"(y), "r"(shared_address(tile))
                     : "memory");
        asm volatile("cp.async.bulk.commit_group;\ncp.async.bulk.wait_group 0;" ::: "memory");
    }
}

static inline CUtensorMap tensor_map(int *p,
                                     CUtensorMapSwizzle swizzle = CU_TENSOR_MAP_SWIZZLE_NONE)
{
    return tiled_map(p, {COLUMNS, ROWS, TILE, TILE, swizzle});
}

static inline dim3 tiles()
{
    return dim3(COLUMNS / TILE, (ROWS + TILE - 1) / TILE);
}
