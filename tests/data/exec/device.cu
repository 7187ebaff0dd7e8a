/* What goes beyond plain kernels: math, atomics, grids, clusters, barriers in shared memory,
 * asynchronous copies, halves. */
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cooperative_groups/reduce.h>
#include <cuda/atomic>
#include <cuda/barrier>
#include <cuda_fp16.h>
namespace cg = cooperative_groups;

__global__ void math_float(float *out, const float *in, int n)
{
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
        float x = in[i];
        float results[] = {expf(x),   logf(x),  sinf(x),   cosf(x),       powf(x, 1.7f),
                           sqrtf(x),  tanhf(x), atanf(x),  x / 3.7f,      log1pf(x),
                           exp2f(x),  cbrtf(x), erff(x),   fmodf(x, .7f), rsqrtf(x),
                           floorf(x), rintf(x), ceilf(-x), __expf(x),     __sinf(x)};
        for (int k = 0; k < 20; k++)
            out[i * 20 + k] = results[k];
    }
}

__global__ void math_double(double *out, const double *in, int n)
{
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
        double x = in[i];
        double results[] = {exp(x), log(x), sin(x), cos(x), pow(x, 1.7), sqrt(x), tanh(x), x / 3.7};
        for (int k = 0; k < 8; k++)
            out[i * 8 + k] = results[k];
    }
}

struct totals {
    int sum, least, most, bits_and, bits_or, bits_xor;
    unsigned wrapped, last;
    float sum_float;
    double sum_double;
    unsigned long long sum_long, most_long;
    int by_cas;
    unsigned short half_words[2];
    __half2 pair;
};
__global__ void atomics(totals *t)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    atomicAdd(&t->sum, i);
    atomicMin(&t->least, -i);
    atomicMax(&t->most, i);
    atomicAnd(&t->bits_and, ~(1 << (i % 31)));
    atomicOr(&t->bits_or, 1 << (i % 31));
    atomicXor(&t->bits_xor, i);
    atomicInc(&t->wrapped, 99);
    atomicExch(&t->last, 7);
    atomicAdd(&t->sum_float, 0.5f);
    atomicAdd(&t->sum_double, 0.25);
    atomicAdd(&t->sum_long, 1ull << 33);
    atomicMax(&t->most_long, (unsigned long long)i << 40);
    int old = t->by_cas, seen;
    do {
        seen = old;
        old = atomicCAS(&t->by_cas, seen, seen + 3);
    } while (old != seen);
    atomicCAS(&t->half_words[1], (unsigned short)0, (unsigned short)9);
    atomicAdd(&t->pair, __floats2half2_rn(1.0f, 0.5f));
}

__global__ void grid_sums(int *partial, int *out)
{
    cg::grid_group grid = cg::this_grid();
    for (int round = 0; round < 3; round++) {
        if (threadIdx.x == 0)
            partial[blockIdx.x] = blockIdx.x + round;
        grid.sync();
        int sum = 0;
        for (unsigned i = 0; i < gridDim.x; i++)
            sum += partial[i];
        if (threadIdx.x == 0)
            out[blockIdx.x] = sum;
        grid.sync();
    }
}

__global__ void groups(int *out)
{
    auto block = cg::this_thread_block();
    auto tile = cg::tiled_partition<8>(block);
    int i = threadIdx.x;
    out[i] = cg::reduce(tile, i, cg::plus<int>());
    if (i % 3 == 0) {
        auto active = cg::coalesced_threads();
        out[i] += 1000 * active.size() + 100000 * active.shfl(active.thread_rank(), 1);
    }
    block.sync();
}

__global__ void __cluster_dims__(4, 1, 1) clusters(int *out)
{
    __shared__ int mine[32];
    auto cluster = cg::this_cluster();
    mine[threadIdx.x] = blockIdx.x * 100 + threadIdx.x;
    cluster.sync();
    int next = (cluster.block_rank() + 1) % cluster.num_blocks();
    int *other = cluster.map_shared_rank(mine, next);
    out[blockIdx.x * 32 + threadIdx.x] = other[threadIdx.x] + 10000 * cluster.block_rank();
    atomicAdd(&other[0], 1);
    cluster.sync();
    if (threadIdx.x == 0)
        out[blockIdx.x * 32] += 1000000 * (mine[0] - blockIdx.x * 100);
}

__global__ void shared_barrier(int *out)
{
#pragma nv_diag_suppress static_var_with_dynamic_init
    __shared__ cuda::barrier<cuda::thread_scope_block> barrier;
    __shared__ int values[128];
    if (threadIdx.x == 0)
        init(&barrier, blockDim.x);
    __syncthreads();
    int sum = 0;
    for (int round = 0; round < 4; round++) {
        values[threadIdx.x] = threadIdx.x + round;
        barrier.arrive_and_wait();
        sum += values[(threadIdx.x + 33) % blockDim.x];
        barrier.arrive_and_wait();
    }
    out[threadIdx.x] = sum;
}

__global__ void async_copies(int *out, const int *in)
{
    __shared__ int stage[256];
    auto block = cg::this_thread_block();
    cg::memcpy_async(block, stage, in, sizeof stage);
    cg::wait(block);
    out[threadIdx.x] = stage[255 - threadIdx.x] + stage[threadIdx.x];
}

/* Global to shared memory and back by the bulk copy engine. */
__global__ void bulk_copies(int *out, const int *in)
{
    __shared__ alignas(128) int stage[256];
    __shared__ alignas(8) unsigned long long barrier;
    unsigned to = (unsigned)__cvta_generic_to_shared(stage);
    unsigned gate = (unsigned)__cvta_generic_to_shared(&barrier);
    if (threadIdx.x == 0)
        asm volatile("mbarrier.init.shared.b64 [%0], 1;" ::"r"(gate) : "memory");
    __syncthreads();
    if (threadIdx.x == 0) {
        asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes "
                     "[%0], [%1], %2, [%3];" ::"r"(to),
                     "l"(in), "r"(1024), "r"(gate)
                     : "memory");
        asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], 1024;" ::"r"(gate) : "memory");
    }
    int done;
    do
        asm volatile("{\n.reg .pred p;\n"
                     "mbarrier.try_wait.parity.shared.b64 p, [%1], 0;\n"
                     "selp.b32 %0, 1, 0, p;\n}"
                     : "=r"(done)
                     : "r"(gate)
                     : "memory");
    while (!done);
    stage[threadIdx.x] += 1;
    __syncthreads();
    if (threadIdx.x == 0) {
        asm volatile("fence.proxy.async;\n"
                     "cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], 1024;\n"
                     "cp.async.bulk.commit_group;\n"
                     "cp.async.bulk.wait_group 0;" ::"l"(out),
                     "r"(to)
                     : "memory");
    }
}

__global__ void messages(int *data, int *flag, int *out)
{
    cuda::atomic_ref<int, cuda::thread_scope_device> ready(*flag);
    if (threadIdx.x == 0 && blockIdx.x == 1) {
        data[0] = 42;
        ready.store(1, cuda::memory_order_release);
    }
    if (threadIdx.x == 0 && blockIdx.x == 0) {
        while (ready.load(cuda::memory_order_acquire) == 0)
            __nanosleep(100);
        out[0] = data[0];
    }
}

__global__ void clocks(long long *out)
{
    long long start = clock64();
    unsigned long long wall, later;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(wall));
    while (clock64() - start < 100000)
        ;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(later));
    out[0] = clock64() - start;
    out[1] = later - wall;
}

__global__ void halves(__half *out, const __half *in, int n)
{
    int i = threadIdx.x;
    __half2 a = __halves2half2(in[i], in[i + 1]);
    __half2 b = __hfma2(a, a, __float2half2_rn(0.5f));
    out[i] = __hadd(__low2half(b), __hmul(__high2half(b), in[i]));
    if (__hgt(in[i], __float2half(1.0f)))
        out[i] = hexp2(in[i]);
}

struct alignas(16) pixel {
    unsigned char r, g, b, a;
    short depth;
    float weight;
    int extra;
};
__global__ void mixed(pixel *out, const pixel *in, const int4 *vectors, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    pixel p = in[i];
    int4 v = __ldg(&vectors[i]);
    p.r += v.x;
    p.g = p.b > 100 ? p.b - 100 : 0;
    p.depth -= (short)v.y;
    p.weight *= v.z;
    p.extra = v.w ^ p.a;
    out[i] = p;
}

/* A switch with a table of targets. */
__global__ void switches(int *out)
{
    int i = threadIdx.x, r;
    asm volatile("{\n.reg .b32 t;\n"
                 "targets: .branchtargets zero, one, two, three;\n"
                 "and.b32 t, %1, 3;\n"
                 "brx.idx t, targets;\n"
                 "zero: mov.u32 %0, 10; bra done;\n"
                 "one: mov.u32 %0, 21; bra done;\n"
                 "two: mov.u32 %0, 32; bra done;\n"
                 "three: mov.u32 %0, 43;\n"
                 "done:\n}"
                 : "=r"(r)
                 : "r"(i));
    out[i] = r;
}

__global__ void named_barriers(int *out)
{
    __shared__ int box;
    /* the first 64 threads wait for the last 64 to have arrived, not for those between */
    if (threadIdx.x >= 128) {
        if (threadIdx.x == 128)
            box = 5;
        asm volatile("bar.arrive 3, 128;" ::: "memory");
    } else if (threadIdx.x < 64) {
        asm volatile("bar.sync 3, 128;" ::: "memory");
        out[threadIdx.x] = box;
    }
    out[threadIdx.x + 192] = __syncthreads_count(threadIdx.x % 2) +
                             1000 * __syncthreads_and(threadIdx.x < 192) +
                             2000 * __syncthreads_or(threadIdx.x == 500);
}

__global__ void kinds(int *read, int *written, int *updated, int *observed, int *blockwise)
{
    int i = threadIdx.x;
    written[i] = read[2 * i];
    atomicAdd(&updated[i / 4], 1);
    written[i + 64] = *(volatile int *)&observed[i];
    atomicAdd_block(&blockwise[0], 1);
}

__device__ __noinline__ void count_down(volatile int *frame, int n)
{
    volatile int room[64];
    room[n % 64] = n;
    if (n > 0)
        count_down(room, n - 1);
    frame[0] = room[n % 64];
}
__global__ void deep(int *out, int n)
{
    volatile int frame[4];
    count_down(frame, n);
    out[0] = frame[0];
}

__global__ void deadlocks()
{
    if (threadIdx.x < 32)
        asm volatile("bar.sync 1, 128;");
    else
        asm volatile("bar.sync 2, 128;");
}

__global__ void vector_atomics(float4 *four, float2 *two, float4 *old)
{
    float value = threadIdx.x;
    float4 seen = atomicAdd(four, make_float4(1, value, -1, 0.5f));
    atomicAdd(two + threadIdx.x % 2, make_float2(2, value));
    if (seen.x == 0)
        *old = seen;
}
