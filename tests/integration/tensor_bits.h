// Tensor copies of values of four and six bits (PTX ISA 5.5.1.1), which lie packed in the tensor:
// a block loads a box as shared memory has it, and writes it out, or stores one from there. A box
// has lines of 128 values, which the map swizzles in atoms of 32 bytes.
#pragma once

#include "bulk_barrier.h"
#include "tiled_map.h"

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
        bulk_barrier_begin(&barrier);
        bulk_barrier_expect(&barrier, HELD * bits / 8);
        asm volatile("cp.async.bulk.tensor.2d.shared::cta.global.tile.mbarrier::complete_tx::"
                     "bytes [%0], [%1, {%2, %3}], [%4];" ::"r"(shared_address(box)),
                     "l"(&map), "r"(x), "r"(y), "r"(shared_address(&barrier))
                     : "memory");
    }
    __syncthreads();
    bulk_barrier_wait(&barrier);
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
    return encode_tiled(p, {b.type,
                            2,
                            {VALUES, LINES},
                            {(cuuint64_t)line_bytes(b)},
                            {BOX, BOX_LINES},
                            CU_TENSOR_MAP_INTERLEAVE_NONE,
                            CU_TENSOR_MAP_SWIZZLE_128B_ATOM_32B});
}
