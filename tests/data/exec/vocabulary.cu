// What CUDA C++ has of intrinsics, atomics, groups, barriers and pipelines, so that nvcc writes the
// PTX of it: test_exec_vocabulary looks which of it the device takes. Never run.
#pragma nv_diag_suppress static_var_with_dynamic_init
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>
#include <cooperative_groups/memcpy_async.h>
#include <cuda/barrier>
#include <cuda/pipeline>
#include <cuda/atomic>
#include <cuda_fp8.h>
#include <mma.h>
#include <cstdio>
#include <cassert>
namespace cg = cooperative_groups;
extern "C" __global__ void lanes(unsigned *o, int n)
{
    unsigned x = o[threadIdx.x];
    int k = 32;
    o[k++] = __shfl_sync(~0u, x, 3);
    o[k++] = __shfl_up_sync(~0u, x, 3);
    o[k++] = __shfl_down_sync(~0u, x, 3, 8);
    o[k++] = __shfl_xor_sync(~0u, x, 3);
    o[k++] = __any_sync(~0u, x);
    o[k++] = __all_sync(~0u, x);
    o[k++] = __ballot_sync(~0u, x);
    o[k++] = 1;
    o[k++] = __activemask();
    o[k++] = __match_any_sync(~0u, x);
    int p;
    o[k++] = __match_all_sync(~0u, (unsigned long long)x, &p);
    o[k++] = p;
    o[k++] = __reduce_add_sync(~0u, x);
    o[k++] = __reduce_min_sync(~0u, (int)x);
    o[k++] = __reduce_and_sync(~0u, x);
    o[k++] = __popc(x);
    o[k++] = __clzll(x);
    o[k++] = __ffs(x);
    o[k++] = __brev(x);
    o[k++] = __byte_perm(x, n, 0x3210);
    o[k++] = __funnelshift_l(x, n, 5);
    o[k++] = __funnelshift_rc(x, n, 50);
    o[k++] = __dp4a((int)x, n, 3);
    o[k++] = __dp2a_lo((int)x, n, 3);
    o[k++] = __dp2a_hi(x, (unsigned)n, 3u);
    o[k++] = __sad(x, n, 3u);
    o[k++] = __mulhi((int)x, n);
    o[k++] = __umul24(x, n);
    o[k++] = __hadd((int)x, n);
    o[k++] = __rhadd((int)x, n);
    o[k++] = __fns(x, 0, n);
    o[k++] = __usad(x, n, 2);
    o[k++] = __vadd2(x, n);
    o[k++] = __vadd4(x, n);
    o[k++] = __vabsdiffu4(x, n);
    o[k++] = __vsub2(x, n);
    o[k++] = __vmaxs2(x, n);
    o[k++] = __vminu4(x, n);
    o[k++] = __vcmpeq4(x, n);
    o[k++] = __vaddss2(x, n);
    o[k++] = __vavgu4(x, n);
    o[k++] = __vabs2(x);
    o[k++] = __vneg4(x);
    o[k++] = __vseteq2(x, n);
    o[k++] = __vsadu4(x, n);
    o[k++] = __vaddus4(x, n);
    o[k++] = __vsads2(x, n);
    o[k++] = __vibmax_s32(x, n, (bool *)o);
    o[k++] = __viaddmax_s16x2_relu(x, n, 4);
    o[k++] = __vimin3_u16x2(x, n, 3);
    o[k++] = __viaddmin_s32(x, n, 4);
    __nanosleep(10);
    o[k++] = clock();
    ((long long *)o)[100] = clock64();
    long long t;
    asm volatile("mov.u64 %0,%%globaltimer;" : "=l"(t));
    ((long long *)o)[101] = t;
}
extern "C" __global__ void groups(int *o, const int *in)
{
    auto g = cg::this_grid();
    auto b = cg::this_thread_block();
    auto w = cg::tiled_partition<32>(b);
    auto t = cg::tiled_partition<8>(w);
    __shared__ int s[1024];
    cg::memcpy_async(b, s, in, sizeof(int) * 256);
    cg::wait(b);
    o[0] = cg::reduce(w, s[threadIdx.x], cg::plus<int>());
    o[1] = cg::inclusive_scan(t, 1);
    o[2] = cg::reduce(t, 1.0f, cg::greater<float>());
    auto c = cg::coalesced_threads();
    o[3] = cg::reduce(c, 2, cg::less<int>());
    o[4] = cg::exclusive_scan(c, 2);
    auto l = cg::labeled_partition(w, threadIdx.x % 3);
    o[5] = l.size();
    auto bp = cg::binary_partition(w, threadIdx.x & 1);
    o[6] = bp.thread_rank();
    g.sync();
    o[7] = g.thread_rank();
    cg::invoke_one(w, [&] { o[8] = 1; });
    auto tb = b.barrier_arrive();
    b.barrier_wait(std::move(tb));
}
extern "C" __global__ void pipes(int *o, const int *in)
{
    __shared__ int s[2][256];
    __shared__ cuda::barrier<cuda::thread_scope_block> bar;
    if (threadIdx.x == 0)
        init(&bar, blockDim.x);
    __syncthreads();
    cuda::memcpy_async(s[0] + threadIdx.x, in + threadIdx.x, sizeof(int), bar);
    bar.arrive_and_wait();
    cuda::pipeline<cuda::thread_scope_thread> p = cuda::make_pipeline();
    p.producer_acquire();
    cuda::memcpy_async(s[1] + threadIdx.x * 4 % 256, in + threadIdx.x * 4,
                       cuda::aligned_size_t<16>(16), p);
    p.producer_commit();
    cuda::pipeline_consumer_wait_prior<0>(p);
    p.consumer_release();
    o[threadIdx.x] = s[0][threadIdx.x] + s[1][threadIdx.x];
    __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, 2> st;
    auto b = cg::this_thread_block();
    auto q = cuda::make_pipeline(b, &st);
    q.producer_acquire();
    cuda::memcpy_async(b, s[0], in, cuda::aligned_size_t<16>(1024), q);
    q.producer_commit();
    q.consumer_wait();
    o[threadIdx.x] += s[0][threadIdx.x];
    q.consumer_release();
}
extern "C" __global__ void atomics(int *o, float *f, double *d, unsigned long long *l,
                                   unsigned short *us)
{
    atomicAdd(o, 1);
    atomicSub(o, 1);
    atomicExch(o, 2);
    atomicMin(o, 2);
    atomicMax((unsigned *)o, 2u);
    atomicInc((unsigned *)o, 2u);
    atomicDec((unsigned *)o, 2u);
    atomicAnd(o, 1);
    atomicOr(o, 1);
    atomicXor(o, 1);
    o[9] = atomicCAS(o, 1, 2);
    atomicCAS(us, (unsigned short)1, (unsigned short)2);
    atomicAdd(f, 1.f);
    f[4] = atomicAdd(f, 1.f);
    atomicExch(f, 2.f);
    atomicAdd(d, 1.);
    atomicAdd(l, 1ull);
    atomicMin(l, 1ull);
    atomicMax((long long *)l, 1ll);
    l[3] = atomicCAS(l, 1ull, 2ull);
    atomicAdd_block(o, 1);
    atomicAdd_system(o, 1);
    atomicAdd((float2 *)f, make_float2(1, 2));
    atomicAdd((float4 *)f, make_float4(1, 2, 3, 4));
    cuda::atomic_ref<int, cuda::thread_scope_device> a(*o);
    a.fetch_add(1, cuda::memory_order_release);
    o[10] = a.load(cuda::memory_order_acquire);
    a.store(3);
    a.compare_exchange_strong(o[11], 4);
    cuda::atomic_ref<float> af(*f);
    af.fetch_max(2.f);
    af.fetch_add(1.f);
    cuda::atomic_ref<long long, cuda::thread_scope_block> al(*(long long *)l);
    al.fetch_and(3);
    __threadfence();
    __threadfence_block();
    __threadfence_system();
    cuda::atomic_ref<double> ad(*d);
    ad.fetch_min(1.0);
    cuda::atomic_ref<char> ac(*(char *)o);
    ac.fetch_add(1);
}
extern "C" __global__ void allocates(int n, int **o)
{
    int *p = (int *)malloc(n);
    *o = p;
    free(p);
    int *q = new int[n];
    *o = q;
    delete[] q;
}
extern "C" __global__ void stack(char *o, const char *i, int n)
{
    memcpy(o, i, n);
    memset(o + n, 3, n);
    char *q = (char *)alloca(n);
    q[n - 1] = o[3];
    memcpy(o, q, n);
    o[0] = strlen("abc");
}
extern "C" __global__ void prints(int n)
{
    printf("%d %f %s %c %%\n", n, 1.0, "x", 'c');
    assert(n < 3);
    if (n == 7)
        __trap();
    if (n == 8)
        __brkpt();
    if (n == 9)
        __builtin_unreachable();
}
extern "C" __global__ void fp8(__nv_fp8_e4m3 *o, float *f, __nv_fp8x2_e5m2 *p, __nv_fp8x4_e4m3 *q,
                               half *h)
{
    o[0] = __nv_fp8_e4m3(f[0]);
    f[1] = float(o[1]);
    p[0] = __nv_fp8x2_e5m2(make_float2(f[0], f[1]));
    float2 r = float2(p[1]);
    f[2] = r.x + r.y;
    q[0] = __nv_fp8x4_e4m3(make_float4(f[0], f[1], f[2], f[3]));
    h[0] = half(o[3]);
    o[4] = __nv_fp8_e4m3(h[3]);
}
extern "C" __global__ void vectors(float2 *a, float4 *b, double2 *d, longlong2 *l, short4 *s,
                                   uchar4 *u)
{
    a[0] = a[1];
    b[0] = __ldg(b + 1);
    d[0] = __ldcs(d + 1);
    __stwt(l, l[1]);
    s[0] = s[1];
    u[0] = u[1];
    __stcg(b + 2, __ldcg(b + 3));
    b[5] = __ldlu(b + 6);
    __stcs(b + 7, __ldcv(b + 8));
}
extern "C" __global__ void cluster(int *o)
{
    auto c = cg::this_cluster();
    __shared__ int s[32];
    s[threadIdx.x % 32] = threadIdx.x;
    c.sync();
    int *r = c.map_shared_rank(s, (c.block_rank() + 1) % c.num_blocks());
    o[threadIdx.x] = r[threadIdx.x % 32];
    auto t = c.barrier_arrive();
    c.barrier_wait(std::move(t));
    o[1] = c.query_shared_rank(r);
    cudaGridDependencySynchronize();
    cudaTriggerProgrammaticLaunchCompletion();
}
extern "C" __global__ void surfaces(cudaSurfaceObject_t s, float *o)
{
    float v;
    surf2Dread(&v, s, 4, 5);
    surf2Dwrite(v, s, 8, 9);
    o[0] = v;
}
extern "C" __global__ void textures(cudaTextureObject_t t, float *o)
{
    o[0] = tex1Dfetch<float>(t, 3) + tex2D<float>(t, 1.f, 2.f);
}
extern "C" __global__ void functions(float *f, double *d, int *o)
{
    f[0] = __sinf(f[1]) + __cosf(f[2]) + __expf(f[3]) + __logf(f[4]) + __powf(f[5], f[6]) +
           __fdividef(f[7], f[8]) + __frcp_rz(f[9]) + __fsqrt_ru(f[10]) + __fadd_rd(f[1], f[2]) +
           __fmul_rz(f[1], f[2]) + __fmaf_ru(f[1], f[2], f[3]) + __frsqrt_rn(f[3]) +
           __saturatef(f[4]) + fminf(f[1], f[2]) + tanhf(f[1]) + __tanf(f[2]) + erff(f[3]) +
           lgammaf(f[4]) + j0f(f[5]) + normcdfinvf(f[1]) + rcbrtf(f[1]) + powf(f[1], f[2]) +
           sinf(f[3]) + fmodf(f[1], f[2]) + remainderf(f[1], f[2]) + ldexpf(f[1], 3) +
           frexpf(f[2], o) + __fdiv_rn(f[1], f[2]) + __fdiv_ru(f[1], f[2]);
    d[0] = sin(d[1]) + exp(d[2]) + pow(d[3], d[4]) + __dadd_ru(d[1], d[2]) + __drcp_rn(d[1]) +
           __dsqrt_rz(d[2]) + __ddiv_rd(d[1], d[2]) + __fma_rd(d[1], d[2], d[3]) +
           fmod(d[1], d[2]) + erfinv(d[1]) + tgamma(d[2]) + rsqrt(d[3]) + rint(d[1]) +
           llrint(d[2]) + nearbyint(d[3]) + atan2(d[1], d[2]) + cospi(d[1]) + cbrt(d[2]);
    o[0] = __float2int_rn(f[1]);
    o[1] = __float2uint_ru(f[2]);
    o[2] = __double2int_rd(d[1]);
    o[3] = __float_as_int(f[1]);
    o[4] = __double2hiint(d[1]);
    o[5] = __double2loint(d[1]);
    d[5] = __hiloint2double(o[1], o[2]);
    o[6] = isnan(f[1]);
    o[7] = isinf(d[1]);
    o[8] = signbit(f[1]);
    f[20] = __int2float_rz(o[1]);
    f[21] = __ull2float_ru(o[1]);
    d[6] = __ll2double_rd(o[2]);
    ((long long *)d)[9] = __float2ll_rn(f[1]);
    ((unsigned long long *)d)[10] = __double2ull_ru(d[1]);
    o[9] = __isShared(f) + __isGlobal(f) + __isLocal(f) + __isConstant(f);
    __prof_trigger(1);
    f[22] = __nv_bfloat16(f[1]);
    __int128 x = *(__int128 *)d;
    *(__int128 *)d = x * x / 3;
}

extern "C" __global__ void tiles(float *c, const half *a, const half *b)
{
    namespace wmma = nvcuda::wmma;
    wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> fa;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::col_major> fb;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> fc;
    wmma::fill_fragment(fc, 0.0f);
    wmma::load_matrix_sync(fa, a, 16);
    wmma::load_matrix_sync(fb, b, 16);
    wmma::mma_sync(fc, fa, fb, fc);
    wmma::store_matrix_sync(c, fc, 16, wmma::mem_row_major);
}

// What nvcc writes only for other generations, or in libraries.
extern "C" __global__ void assembly(unsigned *o, unsigned x, unsigned y, float f)
{
    unsigned r;
    asm volatile("bmsk.clamp.b32 %0, %1, %2;" : "=r"(r) : "r"(x), "r"(y));
    o[0] = r;
    asm volatile("bfind.u32 %0, %1;" : "=r"(r) : "r"(x));
    o[1] = r;
    asm volatile("bfe.u32 %0, %1, %2, 5;" : "=r"(r) : "r"(x), "r"(y));
    o[2] = r;
    asm volatile("bfi.b32 %0, %1, %2, 3, 5;" : "=r"(r) : "r"(x), "r"(y));
    o[3] = r;
    asm volatile("prmt.b32 %0, %1, %2, 0x5410;" : "=r"(r) : "r"(x), "r"(y));
    o[4] = r;
    asm volatile("copysign.f32 %0, %1, %1;" : "=f"(f) : "f"(f));
    asm volatile("prefetch.global.L2 [%0];" : : "l"(o));
    asm volatile("red.global.add.u32 [%0], 1;" : : "l"(o));
    asm volatile("membar.gl;");
    asm volatile("shf.l.wrap.b32 %0, %1, %2, 7;" : "=r"(r) : "r"(x), "r"(y));
    o[5] = r + (unsigned)f;
    asm volatile("{.reg .pred p; elect.sync %0|p, 0xffffffff;}" : "=r"(r));
    o[6] = r;
    if (x == 99)
        asm volatile("exit;");
}
