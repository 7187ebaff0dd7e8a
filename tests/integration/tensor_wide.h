// Tensor copies in the modes im2col::w and im2col::w::128 (PTX ISA 5.5.5): each block loads a line
// of pixels and, in the first of the modes, the halo behind them, and writes all of it out.
#pragma once

#include "bulk_barrier.h"
#include "program.h"

#include <cuda.h>
#include <cudaTypedefs.h>

enum { CHANNELS = 16, PIXEL_BYTES = CHANNELS * 4, FIXED = 128, LINE_MOST = 160 };

// A batch of images; height and depth are 1 for a rank that lacks them.
struct Batch {
    int rank, width, height, depth, images;
    int lower, upper, step; // of the box along the width
    int pixels;             // a line, or 0: im2col::w::128
};

struct Line {
    int w, h, d, n;
    unsigned short halo, offset;
};

#define WIDE(rank, mode, places)                                                                   \
    asm volatile("cp.async.bulk.tensor." rank "d.shared::cta.global." mode ".mbarrier::"           \
                 "complete_tx::bytes [%0], [%1, {%2, " places                                      \
                 "}], [%7], {%8, %9};" ::"r"(shared_address(pixels)),                              \
                 "l"(&map), "r"(0), "r"(line.w), "r"(rank_[0] == '3' ? line.n : line.h),           \
                 "r"(rank_[0] == '4' ? line.n : line.d), "r"(line.n),                              \
                 "r"(shared_address(&barrier)), "h"(line.halo), "h"(line.offset)                   \
                 : "memory")

__global__ void load_lines(const __grid_constant__ CUtensorMap map, int rank, bool fixed,
                           int pixels_and_halo, const Line *all, int *out)
{
    __shared__ alignas(1024) int pixels[LINE_MOST * CHANNELS];
    __shared__ alignas(8) uint64_t barrier;
    const Line line = all[blockIdx.x];
    const uint32_t bytes = (uint32_t)(pixels_and_halo + line.halo) * PIXEL_BYTES;
    if (threadIdx.x == 0) {
        bulk_barrier_begin(&barrier);
        bulk_barrier_expect(&barrier, bytes);
        const char rank_[] = {(char)('0' + rank)};
        if (rank == 3)
            WIDE("3", "im2col::w", "%3, %4");
        else if (rank == 5)
            WIDE("5", "im2col::w", "%3, %4, %5, %6");
        else if (fixed)
            WIDE("4", "im2col::w::128", "%3, %4, %5");
        else
            WIDE("4", "im2col::w", "%3, %4, %5");
    }
    __syncthreads();
    bulk_barrier_wait(&barrier);
    // The map swizzles 16 bytes within 64: bits 4 and 5 of the address by bits 7 and 8.
    for (uint32_t i = threadIdx.x; i < bytes / 4; i += blockDim.x)
        out[blockIdx.x * LINE_MOST * CHANNELS + i] = pixels[(i * 4 ^ (i * 4 >> 7 & 3) << 4) / 4];
}

static inline CUtensorMap wide_map(const Batch &b, int *p)
{
    CUtensorMap map;
    const int extents[] = {CHANNELS, b.width, b.height, b.depth};
    cuuint64_t sizes[5], strides[5], bytes = sizeof(int);
    cuuint32_t steps[5] = {1, (cuuint32_t)b.step, 1, 1, 1};
    for (int i = 0; i < b.rank; i++) {
        sizes[i] = (cuuint64_t)(i + 1 == b.rank ? b.images : extents[i]);
        strides[i] = bytes *= sizes[i];
    }
    void *function = nullptr;
    cudaDriverEntryPointQueryResult found;
    CHECK(cudaGetDriverEntryPointByVersion("cuTensorMapEncodeIm2colWide", &function, 12080,
                                           cudaEnableDefault, &found));
    CUresult result = ((PFN_cuTensorMapEncodeIm2colWide_v12080)function)(
        &map, CU_TENSOR_MAP_DATA_TYPE_INT32, (cuuint32_t)b.rank, p, sizes, strides, b.lower,
        b.upper, CHANNELS, b.pixels ? b.pixels : 1, steps, CU_TENSOR_MAP_INTERLEAVE_NONE,
        b.pixels ? CU_TENSOR_MAP_IM2COL_WIDE_MODE_W : CU_TENSOR_MAP_IM2COL_WIDE_MODE_W128,
        CU_TENSOR_MAP_SWIZZLE_64B, CU_TENSOR_MAP_L2_PROMOTION_NONE,
        CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
    if (result != CUDA_SUCCESS) {
        fprintf(stderr, "cuTensorMapEncodeIm2colWide: %d\n", (int)result);
        exit(101);
    }
    return map;
}

static inline Line *on_device(const Line *lines, int count)
{
    Line *copy = device_array<Line>(count);
    CHECK(cudaMemcpy(copy, lines, count * sizeof *lines, cudaMemcpyHostToDevice));
    return copy;
}
