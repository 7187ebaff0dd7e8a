// A tile that one block of a cluster loads into the shared memory of all of them.
#pragma once

#include "tensor_copy.h"

enum { BLOCKS = 4, SKIPPED = 2 }; // of a cluster, and the one that gets none

__global__ void __cluster_dims__(BLOCKS, 1, 1)
    load_for_all(const __grid_constant__ CUtensorMap from, int *out)
{
    __shared__ alignas(128) int tile[TILE][TILE];
    __shared__ alignas(8) uint64_t barrier;
    const int rank = blockIdx.x % BLOCKS;
    for (int i = threadIdx.x; i < TILE * TILE; i += blockDim.x)
        tile[i / TILE][i % TILE] = -1;
    if (threadIdx.x == 0) {
        asm volatile("mbarrier.init.shared.b64 [%0], 1;" ::"r"(shared_address(&barrier)));
        asm volatile("fence.mbarrier_init.release.cluster;");
        asm volatile("fence.proxy.async.shared::cta;");
        if (rank != SKIPPED)
            bulk_barrier_expect(&barrier, sizeof tile);
    }
    asm volatile("barrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;" ::: "memory");
    if (rank == 1 && threadIdx.x == 0)
        asm volatile(
            "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::"
            "bytes.multicast::cluster [%0], [%1, {%2, %3}], [%4], %5;" ::"r"(shared_address(tile)),
            "l"(&from), "r"(TILE), "r"(2 * TILE), "r"(shared_address(&barrier)),
            "h"((unsigned short)((1 << BLOCKS) - 1 - (1 << SKIPPED)))
            : "memory");
    if (rank != SKIPPED)
        bulk_barrier_wait(&barrier);
    for (int i = threadIdx.x; i < TILE * TILE; i += blockDim.x)
        out[rank * TILE * TILE + i] = tile[i / TILE][i % TILE];
    asm volatile("barrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;" ::: "memory");
}
