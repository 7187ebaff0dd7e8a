// Tensor maps of tiles as the host makes them; of a matrix of ints in rows, above all.
#pragma once

#include "program.h"

#include <cuda.h>
#include <cudaTypedefs.h>

struct TiledMap {
    cuuint64_t columns, rows;         // of the matrix
    cuuint32_t box_columns, box_rows; // that one copy moves
    CUtensorMapSwizzle swizzle;
};

// What cuTensorMapEncodeTiled takes, with a step of one along all axes.
struct TiledTensor {
    CUtensorMapDataType type;
    cuuint32_t rank;
    cuuint64_t sizes[5], strides[4];
    cuuint32_t box[5];
    CUtensorMapInterleave interleave;
    CUtensorMapSwizzle swizzle;
};

static inline CUtensorMap encode_tiled(void *p, const TiledTensor &what)
{
    CUtensorMap map;
    const cuuint32_t steps[] = {1, 1, 1, 1, 1};
    void *function = nullptr;
    cudaDriverEntryPointQueryResult found;
    CHECK(cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &function, 12000,
                                           cudaEnableDefault, &found));
    if (!function) {
        fprintf(stderr, "the driver has no cuTensorMapEncodeTiled\n");
        exit(101);
    }
    CUresult result = ((PFN_cuTensorMapEncodeTiled_v12000)function)(
        &map, what.type, what.rank, p, what.sizes, what.strides, what.box, steps, what.interleave,
        what.swizzle, CU_TENSOR_MAP_L2_PROMOTION_NONE, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
    if (result != CUDA_SUCCESS) {
        fprintf(stderr, "cuTensorMapEncodeTiled: %d\n", (int)result);
        exit(101);
    }
    return map;
}

static inline CUtensorMap tiled_map(int *p, const TiledMap &what)
{
    return encode_tiled(p, {CU_TENSOR_MAP_DATA_TYPE_INT32,
                            2,
                            {what.columns, what.rows},
                            {what.columns * sizeof(int)},
                            {what.box_columns, what.box_rows},
                            CU_TENSOR_MAP_INTERLEAVE_NONE,
                            what.swizzle});
}
