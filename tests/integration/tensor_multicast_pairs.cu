// verdict: none
// flags: -gencode arch=compute_100a,code=[compute_100a,sm_100a]
// cuda: 13
// skip: gpu
// Pairs of blocks (.cta_group::2): each block gets the tile, and the odd one of each pair waits for
// both, since the mbarrier lies in an odd block. Compiled for sm_100a, so GPUs of other
// architectures cannot run it.
#include "tensor_copy.h"

enum { BLOCKS = 4, TILE_BYTES = TILE * TILE * 4 };

__global__ void __cluster_dims__(BLOCKS, 1, 1)
    load_for_pairs(const __grid_constant__ CUtensorMap from, int *out)
{
    __shared__ alignas(128) int tile[TILE][TILE];
    __shared__ alignas(8) uint64_t barrier;
    const int rank = blockIdx.x % BLOCKS;
    const bool waits = rank % 2 == 1;
    if (threadIdx.x == 0) {
        asm volatile("mbarrier.init.shared.b64 [%0], 1;" ::"r"(shared_address(&barrier)));
        asm volatile("fence.mbarrier_init.release.cluster;");
        asm volatile("fence.proxy.async.shared::cta;");
        if (waits)
            bulk_barrier_expect(&barrier, 2 * TILE_BYTES);
    }
    asm volatile("barrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;" ::: "memory");
    if (rank == 3 && threadIdx.x == 0)
        asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::"
                     "bytes.multicast::cluster.cta_group::2 [%0], [%1, {%2, %3}], [%4], %5;" ::"r"(
                         shared_address(tile)),
                     "l"(&from), "r"(TILE), "r"(TILE), "r"(shared_address(&barrier)),
                     "h"((unsigned short)((1 << BLOCKS) - 1))
                     : "memory");
    if (waits)
        bulk_barrier_wait(&barrier);
    asm volatile("barrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;" ::: "memory");
    for (int i = threadIdx.x; i < TILE * TILE; i += blockDim.x)
        out[rank * TILE * TILE + i] = tile[i / TILE][i % TILE];
}

int main()
{
    int count = ROWS * COLUMNS, *p = device_array<int>(count);
    int *out = device_array<int>(BLOCKS * TILE * TILE);
    static int host[BLOCKS * TILE * TILE];
    fill<<<(count + BLOCK - 1) / BLOCK, BLOCK>>>(p, 5, count);
    load_for_pairs<<<BLOCKS, 64>>>(tensor_map(p, CU_TENSOR_MAP_SWIZZLE_NONE), out);
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost));
    for (int i = 0; i < BLOCKS * TILE * TILE; i++) {
        int y = TILE + i / TILE % TILE, x = TILE + i % TILE, wanted = 5 + y * COLUMNS + x;
        if (host[i] != wanted) {
            printf("%d: %d, not %d\n", i, host[i], wanted);
            break;
        }
    }
    return finish();
}
