// verdict: none
// gpu: any
// flags: -arch=sm_90
// cuda: 13
// Blocks of a cluster send each other numbers by st.async and red.async, and wait for the bytes at
// an mbarrier of their own.
#include "bulk_barrier.h"
#include "program.h"

enum { CLUSTER = 4, THREADS = 64, ROUNDS = 3, SUMS = 8 };

__device__ inline uint32_t address_in(uint32_t address, uint32_t block)
{
    uint32_t there;
    asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(there) : "r"(address), "r"(block));
    return there;
}

__device__ inline void wait_for(const uint64_t *barrier, uint32_t parity)
{
    uint32_t done = 0;
    while (!done)
        asm volatile("{\n.reg .pred p;\nmbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 "
                     "p, [%1], %2;\nselp.u32 %0, 1, 0, p;\n}"
                     : "=r"(done)
                     : "r"(shared_address(barrier)), "r"(parity)
                     : "memory");
}

__device__ inline void cluster_sync()
{
    asm volatile("barrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;" ::: "memory");
}

// What a thread sends in a round: four words, and one to add.
__device__ __host__ inline uint32_t word(uint32_t block, uint32_t thread, uint32_t round,
                                         uint32_t k)
{
    return block * 1000003u + thread * 1009u + round * 31u + k;
}

__global__ void __cluster_dims__(CLUSTER, 1, 1) exchange(uint4 *words, uint32_t *sums)
{
    __shared__ alignas(16) uint4 got[THREADS];
    __shared__ uint32_t added[SUMS];
    __shared__ alignas(8) uint64_t barrier;
    const uint32_t thread = threadIdx.x, block = blockIdx.x % CLUSTER, next = (block + 1) % CLUSTER;
    const uint32_t bytes = THREADS * (sizeof(uint4) + sizeof(uint32_t));
    if (thread < SUMS)
        added[thread] = 0;
    if (thread == 0) {
        asm volatile("mbarrier.init.shared.b64 [%0], 1;" ::"r"(shared_address(&barrier)));
        asm volatile("fence.mbarrier_init.release.cluster;");
    }
    for (uint32_t round = 0; round < ROUNDS; round++) {
        cluster_sync();
        if (thread == 0)
            bulk_barrier_expect(&barrier, bytes);
        const uint32_t at = address_in(shared_address(&barrier), next);
        asm volatile("st.async.shared::cluster.mbarrier::complete_tx::bytes.v4.b32 [%0], {%1, %2, "
                     "%3, %4}, [%5];" ::"r"(address_in(shared_address(&got[thread]), next)),
                     "r"(word(block, thread, round, 0)), "r"(word(block, thread, round, 1)),
                     "r"(word(block, thread, round, 2)), "r"(word(block, thread, round, 3)), "r"(at)
                     : "memory");
        asm volatile(
            "red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.add."
            "u32 [%0], %1, [%2];" ::"r"(address_in(shared_address(&added[thread % SUMS]), next)),
            "r"(word(block, thread, round, 4)), "r"(at)
            : "memory");
        wait_for(&barrier, round % 2);
        words[(blockIdx.x * ROUNDS + round) * THREADS + thread] = got[thread];
    }
    cluster_sync();
    if (thread < SUMS)
        sums[blockIdx.x * SUMS + thread] = added[thread];
}

int main()
{
    enum { BLOCKS = 2 * CLUSTER, WORDS = BLOCKS * ROUNDS * THREADS };
    static uint4 words[WORDS];
    uint32_t sums[BLOCKS * SUMS];
    uint4 *all = device_array<uint4>(WORDS);
    uint32_t *totals = device_array<uint32_t>(BLOCKS * SUMS);
    exchange<<<BLOCKS, THREADS>>>(all, totals);
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpy(words, all, sizeof words, cudaMemcpyDeviceToHost));
    CHECK(cudaMemcpy(sums, totals, sizeof sums, cudaMemcpyDeviceToHost));
    int wrong = 0;
    for (uint32_t b = 0; b < BLOCKS; b++) {
        const uint32_t from = (b % CLUSTER + CLUSTER - 1) % CLUSTER;
        uint32_t expected[SUMS] = {};
        for (uint32_t round = 0; round < ROUNDS; round++)
            for (uint32_t t = 0; t < THREADS; t++) {
                const uint4 &got = words[(b * ROUNDS + round) * THREADS + t];
                wrong += got.x != word(from, t, round, 0) || got.y != word(from, t, round, 1) ||
                         got.z != word(from, t, round, 2) || got.w != word(from, t, round, 3);
                expected[t % SUMS] += word(from, t, round, 4);
            }
        for (uint32_t i = 0; i < SUMS; i++)
            wrong += sums[b * SUMS + i] != expected[i];
    }
    if (wrong)
        fprintf(stderr, "%d numbers are wrong\n", wrong);
    else
        printf("done\n");
    return wrong != 0;
}
