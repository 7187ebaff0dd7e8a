// What the programs with tensor maps share: a map over rows of a matrix of ints, and kernels that
// load and store one tile of it, each run by one thread.
#pragma once

#include "tiled_map.h"

enum { COLUMNS = 64, ROWS = 32, TILE = 16 };

// `columns` columns from `p` on, of a matrix whose rows are COLUMNS ints long.
static inline CUtensorMap tensor_map(int *p, int columns)
{
    return encode_tiled(p, {CU_TENSOR_MAP_DATA_TYPE_INT32,
                            2,
                            {(cuuint64_t)columns, ROWS},
                            {COLUMNS * sizeof(int)},
                            {TILE, TILE},
                            CU_TENSOR_MAP_INTERLEAVE_NONE,
                            CU_TENSOR_MAP_SWIZZLE_NONE});
}

// Tensor copies exist from sm_90 on (PTX ISA, "cp.async.bulk.tensor"): compile with -arch=sm_90.
__global__ void load_tile(const __grid_constant__ CUtensorMap map, int x, int y, int *out)
{
    __shared__ alignas(128) int tile[TILE][TILE];
    __shared__ alignas(8) uint64_t arrived;
    unsigned to = (unsigned)__cvta_generic_to_shared(tile);
    unsigned barrier = (unsigned)__cvta_generic_to_shared(&arrived);
    asm volatile("mbarrier.init.shared.b64 [%0], 1;\n"
                 "fence.mbarrier_init.release.cluster;\n"
                 "fence.proxy.async.shared::cta;" ::"r"(barrier)
                 : "memory");
    asm volatile("{ .reg .b64 state;\n"
                 "mbarrier.arrive.expect_tx.shared.b64 state, [%0], %1; }" ::"r"(barrier),
                 "r"((unsigned)sizeof tile)
                 : "memory");
    asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes "
                 "[%0], [%1, {%2, %3}], [%4];" ::"r"(to),
                 "l"(&map), "r"(x), "r"(y), "r"(barrier)
                 : "memory");
    asm volatile("{ .reg .pred done;\n"
                 "WAIT:\n"
                 "mbarrier.try_wait.parity.shared.b64 done, [%0], 0;\n"
                 "@!done bra WAIT; }" ::"r"(barrier)
                 : "memory");
    int sum = 0;
    for (int i = 0; i < TILE; i++)
        for (int j = 0; j < TILE; j++)
            sum += tile[i][j];
    *out = sum;
}

__global__ void store_tile(const __grid_constant__ CUtensorMap map, int x, int y, int value)
{
    __shared__ alignas(128) int tile[TILE][TILE];
    for (int i = 0; i < TILE; i++)
        for (int j = 0; j < TILE; j++)
            tile[i][j] = value;
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    asm volatile(
        "cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%0, {%1, %2}], [%3];\n"
        "cp.async.bulk.commit_group;\n"
        "cp.async.bulk.wait_group 0;" ::"l"(&map),
        "r"(x), "r"(y), "r"((unsigned)__cvta_generic_to_shared(tile))
        : "memory");
}
