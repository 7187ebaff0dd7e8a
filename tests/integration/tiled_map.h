// A tensor map of a matrix of ints in rows, as the host makes it.
#pragma once

#include "program.h"

#include <cuda.h>
#include <cudaTypedefs.h>

struct TiledMap {
    cuuint64_t columns, rows;         // of the matrix
    cuuint32_t box_columns, box_rows; // that one copy moves
    CUtensorMapSwizzle swizzle;
};

static inline CUtensorMap tiled_map(int *p, const TiledMap &what)
{
    CUtensorMap map;
    cuuint64_t sizes[] = {what.columns, what.rows}, strides[] = {what.columns * sizeof(int)};
    cuuint32_t box[] = {what.box_columns, what.box_rows}, steps[] = {1, 1};
    void *function = nullptr;
    cudaDriverEntryPointQueryResult found;
    CHECK(cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &function, 12000,
                                           cudaEnableDefault, &found));
    CUresult result = ((PFN_cuTensorMapEncodeTiled_v12000)function)(
        &map, CU_TENSOR_MAP_DATA_TYPE_INT32, 2, p, sizes, strides, box, steps,
        CU_TENSOR_MAP_INTERLEAVE_NONE, what.swizzle, CU_TENSOR_MAP_L2_PROMOTION_NONE,
        CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
    if (result != CUDA_SUCCESS) {
        fprintf(stderr, "cuTensorMapEncodeTiled: %d\n", (int)result);
        exit(101);
    }
    return map;
}
