/* Kernels that copy through tensor maps, for test_machine_code.c, which says which. */
#include <cuda.h>

static __device__ void load(void *to, const CUtensorMap *map, unsigned long long *barrier, int x)
{
    asm volatile("cp.async.bulk.tensor.1d.shared::cluster.global.mbarrier::complete_tx::bytes "
                 "[%0], [%1, {%2}], [%3];" ::"r"((unsigned)__cvta_generic_to_shared(to)),
                 "l"(map), "r"(x), "r"((unsigned)__cvta_generic_to_shared(barrier))
                 : "memory");
}

static __device__ void store(const CUtensorMap *map, const void *from, int x)
{
    asm volatile(
        "cp.async.bulk.tensor.1d.global.shared::cta.bulk_group [%0, {%1}], [%2];" ::"l"(map),
        "r"(x), "r"((unsigned)__cvta_generic_to_shared(from))
        : "memory");
}

static __device__ void add(const CUtensorMap *map, const void *from, int x)
{
    asm volatile("cp.reduce.async.bulk.tensor.1d.global.shared::cta.add.tile.bulk_group "
                 "[%0, {%1}], [%2];" ::"l"(map),
                 "r"(x), "r"((unsigned)__cvta_generic_to_shared(from))
                 : "memory");
}

static __device__ void prefetch(const CUtensorMap *map)
{
    asm volatile("prefetch.tensormap [%0];" ::"l"(map) : "memory");
}

__shared__ alignas(128) float tile[32];
__shared__ unsigned long long barrier;

__global__ void copies(int x, const __grid_constant__ CUtensorMap in,
                       const __grid_constant__ CUtensorMap out)
{
    prefetch(&in);
    load(tile, &in, &barrier, x);
    store(&out, tile, x);
}

__global__ void adds(const __grid_constant__ CUtensorMap out, int x)
{
    add(&out, tile, x);
}

__global__ void chooses(const __grid_constant__ CUtensorMap a,
                        const __grid_constant__ CUtensorMap b,
                        const __grid_constant__ CUtensorMap unused, int which)
{
    load(tile, which ? &a : &b, &barrier, 0);
}

__global__ void steps(const __grid_constant__ CUtensorMap a, const __grid_constant__ CUtensorMap b,
                      int count)
{
    const CUtensorMap *map = &a;
#pragma unroll 1
    for (int i = 0; i < count; i++) {
        load(tile, map, &barrier, i);
        map = map == &a ? &b : &a;
    }
}

__global__ void only_prefetches(const __grid_constant__ CUtensorMap in)
{
    prefetch(&in);
}

struct four {
    CUtensorMap maps[4];
};

/* Data decides which map it is. */
__global__ void indexes(const __grid_constant__ four in, int which)
{
    load(tile, &in.maps[which], &barrier, 0);
}

/* The map lies in global memory. */
__global__ void points(const CUtensorMap *in)
{
    load(tile, in, &barrier, 0);
}

__global__ void points_or_not(const CUtensorMap *in, const __grid_constant__ CUtensorMap other)
{
    load(tile, in ? in : &other, &barrier, 0);
}
