// Tensor copies of single rows (PTX ISA 5.5.3.4, tile::gather4 and tile::scatter4): four rows of a
// matrix, wherever they are, to shared memory, and from there to four rows of another one.
#pragma once

#include "bulk_barrier.h"
#include "tiled_map.h"

enum { ROWS = 40, COLUMNS = 32, TILE = 16, FOUR = 4 };

struct Rows {
    int column, row[FOUR];
};

// Block i gathers the i-th four rows, and writes them out one behind the other.
__global__ void gather_rows(const __grid_constant__ CUtensorMap map, const Rows *all, int *out)
{
    __shared__ alignas(128) int rows[FOUR * TILE];
    __shared__ alignas(8) uint64_t barrier;
    const Rows r = all[blockIdx.x];
    if (threadIdx.x == 0) {
        bulk_barrier_begin(&barrier);
        bulk_barrier_expect(&barrier, sizeof rows);
        asm volatile("cp.async.bulk.tensor.2d.shared::cta.global.tile::gather4.mbarrier::"
                     "complete_tx::bytes [%0], [%1, {%2, %3, %4, %5, %6}], [%7];" ::"r"(
                         shared_address(rows)),
                     "l"(&map), "r"(r.column), "r"(r.row[0]), "r"(r.row[1]), "r"(r.row[2]),
                     "r"(r.row[3]), "r"(shared_address(&barrier))
                     : "memory");
    }
    __syncthreads();
    bulk_barrier_wait(&barrier);
    for (int i = threadIdx.x; i < FOUR * TILE; i += blockDim.x)
        out[blockIdx.x * FOUR * TILE + i] = rows[i];
}

// Block i scatters what it reads to the i-th four rows.
__global__ void scatter_rows(const __grid_constant__ CUtensorMap map, const Rows *all,
                             const int *in)
{
    __shared__ alignas(128) int rows[FOUR * TILE];
    const Rows r = all[blockIdx.x];
    for (int i = threadIdx.x; i < FOUR * TILE; i += blockDim.x)
        rows[i] = in[blockIdx.x * FOUR * TILE + i];
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    __syncthreads();
    if (threadIdx.x == 0) {
        asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.tile::scatter4.bulk_group "
                     "[%0, {%1, %2, %3, %4, %5}], [%6];" ::"l"(&map),
                     "r"(r.column), "r"(r.row[0]), "r"(r.row[1]), "r"(r.row[2]), "r"(r.row[3]),
                     "r"(shared_address(rows))
                     : "memory");
        asm volatile("cp.async.bulk.commit_group;\ncp.async.bulk.wait_group 0;" ::: "memory");
    }
}

// "The size of the bounding box in the dimension 1 must be one."
static inline CUtensorMap rows_map(int *p)
{
    return tiled_map(p, {COLUMNS, ROWS, TILE, 1, CU_TENSOR_MAP_SWIZZLE_NONE});
}

static inline Rows *on_device(const Rows *rows, int count)
{
    Rows *copy = device_array<Rows>(count);
    CHECK(cudaMemcpy(copy, rows, count * sizeof *rows, cudaMemcpyHostToDevice));
    return copy;
}
