// Tensor copies in im2col mode: each block loads a column of pixels, as a convolution needs them,
// and writes it out.
#pragma once

#include "bulk_barrier.h"
#include "program.h"

#include <algorithm>
#include <cuda.h>
#include <cudaTypedefs.h>
#include <vector>

enum { PIXELS = 24, CHANNELS = 8, COLUMN = PIXELS * CHANNELS, AXES = 3 };

// Sizes of channels, width, height, depth and images; axes that a rank lacks have size 1.
struct Images {
    int rank, sizes[5];
    int lower[AXES], upper[AXES], step[AXES], offset[AXES];
};

struct Start {
    int at[4]; // width, height, depth, image; of a rank that lacks axes the image comes earlier
};

#define IM2COL(rank, places, offsets)                                                              \
    asm volatile("cp.async.bulk.tensor." rank "d.shared::cluster.global.im2col.mbarrier::"         \
                 "complete_tx::bytes [%0], [%1, {%2, " places "}], [%7], {" offsets                \
                 "};" ::"r"(shared_address(column)),                                               \
                 "l"(&map), "r"(0), "r"(start.at[0]), "r"(start.at[1]), "r"(start.at[2]),          \
                 "r"(start.at[3]), "r"(shared_address(&barrier)), "h"((uint16_t)x),                \
                 "h"((uint16_t)y), "h"((uint16_t)z)                                                \
                 : "memory")

__global__ void load_columns(const __grid_constant__ CUtensorMap map, int rank, const Start *starts,
                             int x, int y, int z, int *out)
{
    __shared__ alignas(128) int column[COLUMN];
    __shared__ alignas(8) uint64_t barrier;
    const Start start = starts[blockIdx.x];
    if (threadIdx.x == 0) {
        bulk_barrier_begin(&barrier);
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        bulk_barrier_expect(&barrier, sizeof column);
        if (rank == 3)
            IM2COL("3", "%3, %4", "%8");
        else if (rank == 4)
            IM2COL("4", "%3, %4, %5", "%8, %9");
        else
            IM2COL("5", "%3, %4, %5, %6", "%8, %9, %10");
    }
    bulk_barrier_wait(&barrier);
    for (int i = threadIdx.x; i < COLUMN; i += blockDim.x)
        out[blockIdx.x * COLUMN + i] = column[i];
}

static inline CUtensorMap im2col_map(const Images &images, int *p)
{
    CUtensorMap map;
    cuuint64_t sizes[5], strides[5], bytes = sizeof(int);
    cuuint32_t steps[5] = {1, 1, 1, 1, 1};
    int lower[AXES], upper[AXES];
    for (int i = 0; i < images.rank; i++) {
        sizes[i] = (cuuint64_t)images.sizes[i + 1 == images.rank ? 4 : i];
        strides[i] = bytes *= sizes[i];
        if (i > 0 && i + 1 < images.rank) {
            steps[i] = (cuuint32_t)images.step[i - 1];
            lower[i - 1] = images.lower[i - 1];
            upper[i - 1] = images.upper[i - 1];
        }
    }
    void *function = nullptr;
    cudaDriverEntryPointQueryResult found;
    CHECK(cudaGetDriverEntryPointByVersion("cuTensorMapEncodeIm2col", &function, 12000,
                                           cudaEnableDefault, &found));
    CUresult result = ((PFN_cuTensorMapEncodeIm2col_v12000)function)(
        &map, CU_TENSOR_MAP_DATA_TYPE_INT32, (cuuint32_t)images.rank, p, sizes, strides, lower,
        upper, CHANNELS, PIXELS, steps, CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_NONE,
        CU_TENSOR_MAP_L2_PROMOTION_NONE, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
    if (result != CUDA_SUCCESS) {
        fprintf(stderr, "cuTensorMapEncodeIm2col: %d\n", (int)result);
        exit(101);
    }
    return map;
}

// All pixels of the box, in the order in which columns have them.
static inline std::vector<Start> im2col_pixels(const Images &images)
{
    std::vector<Start> all;
    const int *size = images.sizes + 1, *low = images.lower, *up = images.upper;
    for (int n = 0; n < images.sizes[4]; n++)
        for (int z = low[2]; z < size[2] + up[2]; z += images.step[2])
            for (int y = low[1]; y < size[1] + up[1]; y += images.step[1])
                for (int x = low[0]; x < size[0] + up[0]; x += images.step[0])
                    all.push_back(Start{{x, y, z, n}});
    return all;
}

// Where the column begins, for a tensor of that rank.
static inline Start im2col_start(const Images &images, const Start &pixel)
{
    Start start = pixel;
    start.at[images.rank - 2] = pixel.at[3];
    return start;
}
