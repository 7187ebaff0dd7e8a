// Tensor copies of values of four and six bits (PTX ISA 5.5.1.1), which lie packed in the tensor:
// a block loads a box as shared memory has it, and writes it out, or stores one from there. A box
// has lines of 128 values, which the map swizzles in atoms of 32 bytes.
#pragma once

#include "program.h"

#include <cuda.h>
#include <cudaTypedefs.h>

enum { VALUES = 256, LINES = 12, BOX = 128, BOX_LINES = 4, HELD = BOX * BOX_LINES };

struct Bits {
    CUtensorMapDataType type;
    int bits;
};

static const Bits four_bits = {CU_TENSOR_MAP_DATA_TYPE_16U4_ALIGN16B, 4};
static const Bits six_bits = {CU_TENSOR_MAP_DATA_TYPE_16U6_ALIGN16B, 6};

static inline int line_bytes(const Bits &b)
{
    return VALUES * b.bits / 8;
}

__device__ inline uint32_t shared_address(const void *p)
{
    return (uint32_t)__cvta_generic_to_shared(p);
}

// Where byte `i` of the box lies: "2 3 0 1 6 7 4 5" in the second line of 128 bytes, ...
__host__ __device__ inline int turned(int i)
{
    return i ^ (i >> 7 & 3) << 5;
}

__global__ void load_bits(const __grid_constant__ CUtensorMap map, int bits, int x, int y,
                          unsigned char *out)
{
    __shared__ alignas(1024) unsigned char box[HELD];
    __shared__ alignas(8) uint64_t barrier;
    if (threadIdx.x == 0) {
        asm volatile("mbarrier.init.shared.b64 [%0], 1;" ::"r"(shared_address(&barrier)));
        asm volatile("fence.proxy.async.shared::cta;");
        asm volatile(
            "mbarrier.arrive.expect_tx.shared.b64 _, [%0], %1;" ::"r"(shared_address(&barrier)),
            "r"(HELD * bits / 8));
        asm volatile("cp.async.bulk.tensor.2d.shared::cta.global.tile.mbarrier::complete_tx::"
                     "bytes [%0], [%1, {%2, %3}], [%4];" ::"r"(shared_address(box)),
                     "l"(&map), "r"(x), "r"(y), "r"(shared_address(&barrier))
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
        out[i] = i % 16 < bits * 2 ? box[turned(i)] : 0; // what pads 16 values is not written
}

// Of six bits: a byte each in shared memory.
__global__ void store_bits(const __grid_constant__ CUtensorMap map, int x, int y,
                           const unsigned char *in)
{
    __shared__ alignas(1024) unsigned char box[HELD];
    for (int i = threadIdx.x; i < HELD; i += blockDim.x)
        box[turned(i)] = in[i];
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    __syncthreads();
    if (threadIdx.x == 0) {
        asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%0, {%1, %2}], "
                     "[%3];" ::"l"(&map),
                     "r"(x), "r"(y), "r"(shared_address(box))
                     : "memory");
        asm volatile("cp.async.bulk.commit_group;\ncp.async.bulk.wait_group 0;" ::: "memory");
    }
}

static inline CUtensorMap bits_map(const Bits &b, void *p)
{
    CUtensorMap map;
    cuuint64_t sizes[2] = {VALUES, LINES}, strides[1] = {(cuuint64_t)line_bytes(b)};
    cuuint32_t box[2] = {BOX, BOX_LINES}, steps[2] = {1, 1};
    void *function = nullptr;
    cudaDriverEntryPointQueryResult found;
    CHECK(cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &function, 12000,
                                           cudaEnableDefault, &found));
    CUresult result = ((PFN_cuTensorMapEncodeTiled_v12000)function)(
        &map, b.type, 2, p, sizes, strides, box, steps, CU_TENSOR_MAP_INTERLEAVE_NONE,
        CU_TENSOR_MAP_SWIZZLE_128B_ATOM_32B, CU_TENSOR_MAP_L2_PROMOTION_NONE,
        CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
    if (result != CUDA_SUCCESS) {
        fprintf(stderr, "cuTensorMapEncodeTiled: %d\n", (int)result);
        exit(101);
    }
    return map;
}
