// Interleaved tensors (PTX ISA, "Interleaved Layout"): slices of 8 channels of 16 bits, each with
// its rows of pixels. A block loads a box of one slice, and writes it out; or it stores one.
#pragma once

#include "bulk_barrier.h"
#include "tiled_map.h"
#include <vector>

enum {
    CHANNELS = 8, // of a slice
    WIDTH = 32,
    SLICES = 4,
    IMAGES = 3,
    ROW = WIDTH * CHANNELS,
    IMAGE = SLICES * ROW,
    BOX = 16, // pixels
    BOX_IMAGES = 2,
    HELD = BOX * BOX_IMAGES * CHANNELS
};

__global__ void load_slice(const __grid_constant__ CUtensorMap map, int pixel, int slice, int image,
                           unsigned short *out)
{
    __shared__ alignas(1024) unsigned short box[HELD];
    __shared__ alignas(8) uint64_t barrier;
    if (threadIdx.x == 0) {
        bulk_barrier_begin(&barrier);
        bulk_barrier_expect(&barrier, sizeof box);
        asm volatile("cp.async.bulk.tensor.3d.shared::cluster.global.tile.mbarrier::complete_tx::"
                     "bytes [%0], [%1, {%2, %3, %4}], [%5];" ::"r"(shared_address(box)),
                     "l"(&map), "r"(pixel), "r"(slice), "r"(image), "r"(shared_address(&barrier))
                     : "memory");
    }
    __syncthreads();
    bulk_barrier_wait(&barrier);
    for (int i = threadIdx.x; i < HELD; i += blockDim.x)
        out[i] = box[i];
}

__global__ void store_slice(const __grid_constant__ CUtensorMap map, int pixel, int slice,
                            int image)
{
    __shared__ alignas(1024) unsigned short box[HELD];
    for (int i = threadIdx.x; i < HELD; i += blockDim.x)
        box[i] = (unsigned short)(i + 1);
    asm volatile("fence.proxy.async;" ::: "memory");
    __syncthreads();
    if (threadIdx.x == 0)
        asm volatile("cp.async.bulk.tensor.3d.global.shared::cta.tile.bulk_group "
                     "[%0, {%1, %2, %3}], [%4];\n"
                     "cp.async.bulk.commit_group;\ncp.async.bulk.wait_group 0;" ::"l"(&map),
                     "r"(pixel), "r"(slice), "r"(image), "r"(shared_address(box))
                     : "memory");
}

// Sizes: pixels, slices, images. A box has the channels of one slice.
static inline CUtensorMap interleaved_map(unsigned short *p, CUtensorMapSwizzle swizzle)
{
    return encode_tiled(p, {CU_TENSOR_MAP_DATA_TYPE_UINT16,
                            3,
                            {WIDTH, SLICES, IMAGES},
                            {ROW * sizeof *p, IMAGE * sizeof *p},
                            {BOX, CHANNELS, BOX_IMAGES},
                            CU_TENSOR_MAP_INTERLEAVE_16B,
                            swizzle});
}
