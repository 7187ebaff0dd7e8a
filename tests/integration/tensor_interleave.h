// Interleaved tensors (PTX ISA, "Interleaved Layout"): slices of 8 channels of 16 bits, each with
// its rows of pixels. A block loads a box of one slice, and writes it out.
#pragma once

#include "program.h"

#include <cuda.h>
#include <cudaTypedefs.h>
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

__device__ inline uint32_t shared_address(const void *p)
{
    return (uint32_t)__cvta_generic_to_shared(p);
}

__global__ void load_slice(const __grid_constant__ CUtensorMap map, int pixel, int slice, int image,
                           unsigned short *out)
{
    __shared__ alignas(1024) unsigned short box[HELD];
    __shared__ alignas(8) uint64_t barrier;
    if (threadIdx.x == 0) {
        asm volatile("mbarrier.init.shared.b64 [%0], 1;" ::"r"(shared_address(&barrier)));
        asm volatile("fence.proxy.async.shared::cta;");
        asm volatile(
            "mbarrier.arrive.expect_tx.shared.b64 _, [%0], %1;" ::"r"(shared_address(&barrier)),
            "r"((uint32_t)sizeof box));
        asm volatile("cp.async.bulk.tensor.3d.shared::cluster.global.tile.mbarrier::complete_tx::"
                     "bytes [%0], [%1, {%2, %3, %4}], [%5];" ::"r"(shared_address(box)),
                     "l"(&map), "r"(pixel), "r"(slice), "r"(image), "r"(shared_address(&barrier))
                     : "memory");
    }
    __syncthreads();
    uint32_t done = 0;
    while (!done)
        asm volatile("{\n.reg .pred p;\nmbarrier.try_wait.parity.shared.b64 p, [%1], 0;\n"
                     "selp.u32 %0, 1, 0, p;\n}"
                     : "=r"(done)
                     : "r"(shared_address(&barrier))
                     : "memory");
    for (int i = threadIdx.x; i < HELD; i += blockDim.x)
        out[i] = box[i];
}

// Sizes: pixels, slices, images. A box has the channels of one slice.
static inline CUtensorMap interleaved_map(unsigned short *p, CUtensorMapSwizzle swizzle)
{
    CUtensorMap map;
    cuuint64_t sizes[3] = {WIDTH, SLICES, IMAGES},
               strides[2] = {ROW * sizeof *p, IMAGE * sizeof *p};
    cuuint32_t box[3] = {BOX, CHANNELS, BOX_IMAGES}, steps[3] = {1, 1, 1};
    void *function = nullptr;
    cudaDriverEntryPointQueryResult found;
    CHECK(cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &function, 12000,
                                           cudaEnableDefault, &found));
    CUresult result = ((PFN_cuTensorMapEncodeTiled_v12000)function)(
        &map, CU_TENSOR_MAP_DATA_TYPE_UINT16, 3, p, sizes, strides, box, steps,
        CU_TENSOR_MAP_INTERLEAVE_16B, swizzle, CU_TENSOR_MAP_L2_PROMOTION_NONE,
        CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
    if (result != CUDA_SUCCESS) {
        fprintf(stderr, "cuTensorMapEncodeTiled: %d\n", (int)result);
        exit(101);
    }
    return map;
}
