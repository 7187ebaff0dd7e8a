// A bulk copy to several blocks of a cluster (cp.async.bulk with multicast::cluster): each block
// waits at an mbarrier of its own.
#pragma once

#include "bulk_barrier.h"
#include "program.h"

enum { CLUSTER = 4, PIECE = 64 }; // PIECE: ints

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
        bulk_barrier_expect(&barrier, mask >> rank & 1 ? bytes : 0);
    }
    asm volatile("barrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;" ::: "memory");
    if (rank == 0 && threadIdx.x == 0)
        asm volatile(
            "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster "
            "[%0], [%1], %2, [%3], %4;" ::"r"(shared_address(piece)),
            "l"(__cvta_generic_to_global(in + blockIdx.x / CLUSTER * PIECE)), "r"(bytes),
            "r"(shared_address(&barrier)), "h"(mask)
            : "memory");
    bulk_barrier_wait(&barrier);
    for (int i = threadIdx.x; i < PIECE; i += blockDim.x)
        out[blockIdx.x * PIECE + i] = piece[i];
    asm volatile("barrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;" ::: "memory");
}
