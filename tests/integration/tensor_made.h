// Kernels that make the tensor map that they load by (PTX ISA, "tensormap.replace"), as compilers
// of kernels do: all of it from zeros, or some fields of one that the host made.
#pragma once

#include "bulk_barrier.h"
#include "tiled_map.h"

enum { ROWS = 24, COLUMNS = 32, TILE_ROWS = 8, TILE_COLUMNS = 16, TILE = TILE_ROWS * TILE_COLUMNS };

struct Matrix {
    int *first;
    int columns, rows, row_bytes, step;
};

#define FIELD(name, type, constraint, value)                                                       \
    asm volatile("tensormap.replace.tile." name ".shared::cta.b1024." type                         \
                 " [%0], %1;" ::"r"(shared_address(map)),                                          \
                 constraint(value)                                                                 \
                 : "memory")
#define AXIS(name, axis, type, constraint, value)                                                  \
    asm volatile("tensormap.replace.tile." name ".shared::cta.b1024." type " [%0], " axis          \
                 ", %1;" ::"r"(shared_address(map)),                                               \
                 constraint(value)                                                                 \
                 : "memory")
#define CHOICE(name, value)                                                                        \
    asm volatile("tensormap.replace.tile." name ".shared::cta.b1024.b32 [%0], " value              \
                 ";" ::"r"(shared_address(map))                                                    \
                 : "memory")

// What a map says of a matrix.
__device__ inline void set_matrix(CUtensorMap *map, const Matrix &m)
{
    FIELD("global_address", "b64", "l", m.first);
    AXIS("global_dim", "0", "b32", "r", m.columns);
    AXIS("global_dim", "1", "b32", "r", m.rows);
    AXIS("global_stride", "0", "b64", "l", (uint64_t)m.row_bytes);
}

// What else there is in one.
__device__ inline void set_box(CUtensorMap *map, int step)
{
    FIELD("rank", "b32", "r", 1);
    AXIS("box_dim", "0", "b32", "r", TILE_COLUMNS);
    AXIS("box_dim", "1", "b32", "r", TILE_ROWS * step);
    AXIS("element_stride", "0", "b32", "r", 1);
    AXIS("element_stride", "1", "b32", "r", step);
    CHOICE("elemtype", "3"); // .s32
    CHOICE("interleave_layout", "0");
    CHOICE("swizzle_mode", "0");
    CHOICE("fill_mode", "0");
}

// One warp: makes the map in shared memory, publishes it at `made`, and loads a tile by it.
__global__ void load_by_own_map(const __grid_constant__ CUtensorMap host, bool from_zeros,
                                const Matrix matrix, CUtensorMap *made, int x, int y, int *out)
{
    __shared__ alignas(128) CUtensorMap map;
    __shared__ alignas(128) int tile[TILE];
    __shared__ alignas(8) uint64_t barrier;
    const int lane = threadIdx.x;
    ((int *)&map)[lane] = from_zeros ? 0 : ((const int *)&host)[lane];
    __syncwarp();
    if (lane == 0) {
        set_matrix(&map, matrix);
        if (from_zeros)
            set_box(&map, matrix.step);
    }
    __syncwarp();
    asm volatile("tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync."
                 "aligned [%0], [%1], 128;" ::"l"(__cvta_generic_to_global(made)),
                 "r"(shared_address(&map))
                 : "memory");
    asm volatile("fence.proxy.tensormap::generic.acquire.gpu [%0], 128;" ::"l"(made) : "memory");
    if (lane == 0) {
        bulk_barrier_begin(&barrier);
        bulk_barrier_expect(&barrier, sizeof tile);
        asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::"
                     "bytes [%0], [%1, {%2, %3}], [%4];" ::"r"(shared_address(tile)),
                     "l"(made), "r"(x), "r"(y), "r"(shared_address(&barrier))
                     : "memory");
    }
    __syncwarp();
    bulk_barrier_wait(&barrier);
    for (int i = lane; i < TILE; i += 32)
        out[i] = tile[i];
}

// The host's map: of another matrix, with the same box.
static inline CUtensorMap host_map(int *p)
{
    return tiled_map(p, {COLUMNS, ROWS, TILE_COLUMNS, TILE_ROWS, CU_TENSOR_MAP_SWIZZLE_NONE});
}
