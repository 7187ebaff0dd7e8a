// verdict: none
// flags: -arch=sm_90
// cuda: 13
// Two streams add tiles to one matrix: each element is updated atomically, so that is no race.
// Without a tensor, arrays of several types are reduced.
#include "tensor_reduce.h"

enum { LENGTH = 64 };

struct Reduced {
    float sums[LENGTH];
    double wide[LENGTH];
    unsigned least[LENGTH], bits[LENGTH], counts[LENGTH];
    long long most[LENGTH];
    unsigned short halves[LENGTH];
};

#define REDUCE(what, to, from)                                                                     \
    asm volatile("cp.reduce.async.bulk.global.shared::cta.bulk_group." what                        \
                 " [%0], [%1], %2;" ::"l"(to),                                                     \
                 "r"(shared_address(from)), "r"((uint32_t)sizeof from)                             \
                 : "memory")

__global__ void reduce_arrays(Reduced *to)
{
    __shared__ alignas(128) Reduced own;
    const int i = threadIdx.x;
    own.sums[i] = i * 0.5f;
    own.wide[i] = i * 0.25;
    own.least[i] = i * 3;
    own.bits[i] = 0xffff0000u | i;
    own.counts[i] = 3;
    own.most[i] = -2 * i;
    own.halves[i] = 0x3c00; // 1
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    __syncthreads();
    if (i == 0) {
        REDUCE("add.f32", to->sums, own.sums);
        REDUCE("add.f64", to->wide, own.wide);
        REDUCE("min.u32", to->least, own.least);
        REDUCE("and.b32", to->bits, own.bits);
        REDUCE("inc.u32", to->counts, own.counts);
        REDUCE("max.s64", to->most, own.most);
        REDUCE("add.noftz.f16", to->halves, own.halves);
        bulk_done();
    }
}

static bool arrays_are_right()
{
    static Reduced host;
    Reduced *reduced = device_array<Reduced>(1);
    for (int i = 0; i < LENGTH; i++) {
        host.sums[i] = 1;
        host.wide[i] = 2;
        host.least[i] = 100;
        host.bits[i] = 0x12345678;
        host.counts[i] = i % 5;
        host.most[i] = -64;
        host.halves[i] = 0x4000; // 2
    }
    CHECK(cudaMemcpy(reduced, &host, sizeof host, cudaMemcpyHostToDevice));
    reduce_arrays<<<2, LENGTH>>>(reduced);
    CHECK(cudaMemcpy(&host, reduced, sizeof host, cudaMemcpyDeviceToHost));
    for (unsigned i = 0; i < LENGTH; i++) {
        unsigned count = i % 5;
        for (int k = 0; k < 2; k++)
            count = count >= 3 ? 0 : count + 1;
        const long long most = -2 * (long long)i;
        if (host.sums[i] != 1 + i * 1.0f || host.wide[i] != 2 + i * 0.5 ||
            host.least[i] != (i * 3 < 100 ? i * 3 : 100) ||
            host.bits[i] != (0x12340000u | (0x5678u & i)) || host.counts[i] != count ||
            host.most[i] != (most > -64 ? most : -64) || host.halves[i] != 0x4400 /* 4 */) {
            printf("element %u: %g %g %u %x %u %lld %x\n", i, (double)host.sums[i], host.wide[i],
                   host.least[i], host.bits[i], host.counts[i], host.most[i], host.halves[i]);
            return false;
        }
    }
    return true;
}

int main()
{
    static int host[ROWS * COLUMNS + 64];
    int *sums = device_array<int>(ROWS * COLUMNS + 64);
    cudaStream_t first = nonblocking_stream(), second = nonblocking_stream();
    const CUtensorMap map = tensor_map(sums);
    CHECK(cudaMemset(sums, 0, sizeof host));
    CHECK(cudaDeviceSynchronize());
    add_tiles<<<tiles(), 64, 0, first>>>(map, 1);
    add_tiles<<<tiles(), 64, 0, second>>>(map, 1000);
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaMemcpy(host, sums, sizeof host, cudaMemcpyDeviceToHost));
    for (int i = 0; i < ROWS * COLUMNS + 64; i++) {
        const int x = i % COLUMNS % TILE, y = i / COLUMNS % TILE;
        const int wanted = i < ROWS * COLUMNS ? 1001 + 2 * (y * TILE + x) : 0;
        if (host[i] != wanted) {
            printf("%d: %d, not %d\n", i, host[i], wanted);
            break;
        }
    }
    if (!arrays_are_right())
        return 1;
    return finish();
}
