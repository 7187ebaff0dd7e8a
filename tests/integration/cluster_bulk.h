// A bulk copy to several blocks of a cluster (cp.async.bulk with multicast::cluster): each block
// waits at an mbarrier of its own.
#pragma once

#include "program.h"

enum { CLUSTER = 4, PIECE = 64 }; // PIECE: ints

__device__ inline uint32_t shared_address(const void *p)
{
    return (uint32_t)__cvta_generic_to_shared(p);
}

// The first block of each cluster copies a piece to the blocks of `mask`; all write out what they
// have.
__global__ void __cluster_dims__(CLUSTER, 1, 1) spread(const int *in, uint16_t mask, int *out)
{
    __shared__ alignas(16) int piece[PIECE];
    __shared__ alignas(8) uint64_t barrier;
    const uint32_t rank = blockIdx.x % CLUSTER, bytes = sizeof piece;
    for (int i = threadIdx.x; i < PIECE; i += blockDim.x)
        piece[i] = -1;
    if (threadIdx.x == 0) {
        asm volatile("mbarrier.init.shared.b64 [%0], 1;" ::"r"(shared_address(&barrier)));
        asm volatile("fence.mbarrier_init.release.cluster;\nfence.proxy.async;" ::: "memory");
        asm volatile(
            "mbarrier.arrive.expect_tx.shared.b64 _, [%0], %1;" ::"r"(shared_address(&barrier)),
            "r"(mask >> rank & 1 ? bytes : 0)
            : "memory");
    }
    asm volatile("barrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;" ::: "memory");
    if (rank == 0 && threadIdx.x == 0)
        asm volatile(
            "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster "
            "[%0], [%1], %2, [%3], %4;" ::"r"(shared_address(piece)),
            "l"(__cvta_generic_to_global(in + blockIdx.x / CLUSTER * PIECE)), "r"(bytes),
            "r"(shared_address(&barrier)), "h"(mask)
            : "memory");
    uint32_t done = 0;
    while (!done)
        asm volatile("{\n.reg .pred p;\nmbarrier.try_wait.parity.shared.b64 p, [%1], 0;\n"
                     "selp.u32 %0, 1, 0, p;\n}"
                     : "=r"(done)
                     : "r"(shared_address(&barrier))
                     : "memory");
    for (int i = threadIdx.x; i < PIECE; i += blockDim.x)
        out[blockIdx.x * PIECE + i] = piece[i];
    asm volatile("barrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;" ::: "memory");
}
