/* Kernels with instructions that access memory, of each kind: what make compare-machine-code
 * compares with nvdisasm. They are never launched. */
#include <cstdint>
#include <cuda_fp16.h>
#include <cuda_bf16.h>
__constant__ int table[64];
__shared__ int sm[1024];
extern __shared__ char dyn[];
template <class T> __device__ void copy(T *d, const T *s)
{
    d[threadIdx.x] = s[threadIdx.x];
}
extern "C" __global__ void bytes(uint8_t *d, const uint8_t *s)
{
    copy(d, s);
}
extern "C" __global__ void signed_bytes(int *d, const int8_t *s)
{
    d[threadIdx.x] = s[threadIdx.x];
}
extern "C" __global__ void halves(uint16_t *d, const uint16_t *s)
{
    copy(d, s);
}
extern "C" __global__ void signed_halves(int *d, const int16_t *s)
{
    d[threadIdx.x] = s[threadIdx.x];
}
extern "C" __global__ void words(int *d, const int *s)
{
    copy(d, s);
}
extern "C" __global__ void pairs(uint64_t *d, const uint64_t *s)
{
    copy(d, s);
}
extern "C" __global__ void quads(uint4 *d, const uint4 *s)
{
    copy(d, s);
}
extern "C" __global__ void words_before(int *d, const int *s)
{
    d[(int)threadIdx.x - 3] = s[(int)threadIdx.x - 5];
}
extern "C" __global__ void volatile_words(volatile int *d, volatile int *s)
{
    d[threadIdx.x] = s[threadIdx.x];
}
extern "C" __global__ void block_words(int *d, const int *s)
{
    d[blockIdx.x] = s[blockIdx.x + 4];
}
extern "C" __global__ void words_in_turn(int *d, const int *s, int n)
{
    for (int i = threadIdx.x; i < n; i++)
        d[i] = s[i] + 1;
}
extern "C" __global__ void fixed_addresses()
{
    *(volatile int *)0x2000 = *(volatile int *)0x1000;
}
extern "C" __global__ void shared_words(int *d)
{
    sm[threadIdx.x] = d[threadIdx.x];
    __syncthreads();
    d[threadIdx.x] = sm[threadIdx.x ^ 1] + sm[3] + sm[threadIdx.x + 7];
}
extern "C" __global__ void shared_bytes(char *d)
{
    char *c = dyn;
    c[threadIdx.x] = d[threadIdx.x];
    __syncthreads();
    d[threadIdx.x] = c[threadIdx.x ^ 1];
}
extern "C" __global__ void shared_pairs(double *d)
{
    double *c = (double *)dyn;
    c[threadIdx.x] = d[threadIdx.x];
    __syncthreads();
    d[threadIdx.x] = c[threadIdx.x ^ 1];
}
extern "C" __global__ void shared_quads(uint4 *d)
{
    uint4 *c = (uint4 *)dyn;
    c[threadIdx.x] = d[threadIdx.x];
    __syncthreads();
    d[threadIdx.x] = c[threadIdx.x ^ 1];
}
extern "C" __global__ void shared_halves(short *d)
{
    short *c = (short *)dyn;
    c[threadIdx.x] = d[threadIdx.x];
    __syncthreads();
    d[threadIdx.x] = c[threadIdx.x ^ 1];
}
extern "C" __global__ void shared_block_words(int *d, int n)
{
    for (int i = 0; i < n; i++) {
        sm[i * 4 + blockIdx.x] = d[i];
    }
    __syncthreads();
    for (int i = 0; i < n; i++)
        d[i + 8] += sm[i + blockIdx.x];
}
extern "C" __global__ void local_words(int *d, int n)
{
    int a[40];
    for (int i = 0; i < 40; i++)
        a[i] = d[i];
    for (int i = 0; i < n; i++)
        a[(i * 7) % 40] ^= a[(i * 3) % 40];
    d[0] = a[n];
}
extern "C" __global__ void local_bytes(char *d, int n)
{
    char a[40];
    for (int i = 0; i < 40; i++)
        a[i] = d[i];
    for (int i = 0; i < n; i++)
        a[(i * 7) % 40] ^= a[(i * 3) % 40];
    d[0] = a[n];
}
extern "C" __global__ void local_pairs(double *d, int n)
{
    double a[40];
    for (int i = 0; i < 40; i++)
        a[i] = d[i];
    for (int i = 0; i < n; i++)
        a[(i * 7) % 40] += a[(i * 3) % 40];
    d[0] = a[n];
}
extern "C" __global__ void generic_words(int *d, int n)
{
    int *p = n > 5 ? d : sm;
    p[threadIdx.x] = n;
    __syncthreads();
    d[threadIdx.x + 99] = p[threadIdx.x + 1];
}
extern "C" __global__ void generic_quads(uint4 *d, int n)
{
    uint4 *p = n > 5 ? d : (uint4 *)dyn;
    p[threadIdx.x] = make_uint4(n, n, n, n);
    __syncthreads();
    d[threadIdx.x + 99] = p[threadIdx.x + 1];
}
extern "C" __global__ void generic_bytes(char *d, int n)
{
    char *p = n > 5 ? d : dyn;
    p[threadIdx.x] = n;
    __syncthreads();
    d[threadIdx.x + 99] = p[threadIdx.x + 1];
}
extern "C" __global__ void generic_atomics(int *d, int n)
{
    int *p = n > 5 ? d : sm;
    atomicAdd(p + threadIdx.x, 1);
    d[1] = atomicAdd(p + threadIdx.x + 1, 1);
    d[2] = atomicCAS(p + 3, 1, 2);
    d[3] = atomicExch(p + 4, 1);
}
extern "C" __global__ void generic_atomics_64(unsigned long long *d, int n)
{
    unsigned long long *p = n > 5 ? d : (unsigned long long *)dyn;
    atomicAdd(p + threadIdx.x, 1);
    d[1] = atomicAdd(p + threadIdx.x + 1, 1);
    d[2] = atomicCAS(p + 3, 1, 2);
    d[3] = atomicExch(p + 4, 1);
    d[7] = atomicMax(p + 9, 7);
}
extern "C" __global__ void global_atomics(int *d)
{
    d[1] = atomicAdd(d + 10, 1) + atomicMin(d + 11, 4) + atomicCAS(d + 12, 3, 4) +
           atomicExch(d + 13, 3) + atomicXor(d + 14, 3) + atomicInc((unsigned *)d + 15, 3);
}
extern "C" __global__ void global_atomics_unsigned(unsigned *d)
{
    d[1] = atomicMax(d + 10, threadIdx.x) + atomicMin(d + 11, threadIdx.x) +
           atomicAnd(d + 33, threadIdx.x) + atomicDec(d + 15, 3);
}
extern "C" __global__ void global_atomics_64(unsigned long long *d)
{
    d[1] = atomicAdd(d + 10, 1) + atomicMin(d + 11, 4) + atomicCAS(d + 12, 3, 4) +
           atomicExch(d + 13, 3) + atomicXor(d + 14, 3);
    atomicMax((long long *)d + 77, threadIdx.x);
}
extern "C" __global__ void global_atomics_floats(float *d, double *e, __half *h, __half2 *h2,
                                                 __nv_bfloat16 *b)
{
    d[0] = atomicAdd(d + 1, 2.f);
    e[0] = atomicAdd(e + 1, 2.);
    atomicAdd(d + 9, 1.f);
    atomicAdd(e + 9, 1.);
    h2[0] = atomicAdd(h2 + 1, h2[3]);
    atomicAdd(h2 + 7, h2[3]);
#if __CUDA_ARCH__ >= 700
    h[0] = atomicAdd(h + 1, h[3]);
    atomicAdd(h + 9, h[3]);
#endif
#if __CUDA_ARCH__ >= 900
    b[0] = atomicAdd(b + 1, b[3]);
    atomicAdd(b + 9, b[3]);
#endif
}
extern "C" __global__ void reductions(int *d)
{
    atomicAdd(d + threadIdx.x, 1);
    atomicMax(d + threadIdx.x + 900, threadIdx.x);
    atomicOr(d + blockIdx.x, 7);
}
extern "C" __global__ void reductions_together(int *d)
{
    atomicAdd(d, threadIdx.x);
}
extern "C" __global__ void reductions_scopes(int *d)
{
    atomicAdd_system(d + threadIdx.x, 1);
    atomicAdd_block(d + threadIdx.x + 5, 1);
    d[9] = atomicCAS_system(d + 3, 1, 2);
}
extern "C" __global__ void shared_atomics(int *d)
{
    atomicAdd(sm + threadIdx.x, 1);
    d[0] = atomicAdd(sm + 5, 2) + atomicMax(sm + 6, 3) + atomicCAS(sm + 7, 1, 2) +
           atomicExch(sm + threadIdx.x + 8, 3);
}
extern "C" __global__ void shared_atomics_64(unsigned long long *d)
{
    unsigned long long *s = (unsigned long long *)dyn;
    d[0] =
        atomicAdd(s + 5, 2) + atomicMax(s + 6, 3) + atomicCAS(s + 7, 1, 2) + atomicExch(s + 8, 3);
    atomicAdd(s + 9, 3);
}
extern "C" __global__ void shared_atomics_floats(float *d)
{
    float *s = (float *)dyn;
    d[0] = atomicAdd(s + threadIdx.x, d[4]);
}
extern "C" __global__ void constants(int *d, int n)
{
    d[threadIdx.x] = table[threadIdx.x + n];
    d[threadIdx.x + 1] = ((const char *)table)[n];
    d[33] = ((const unsigned short *)table)[threadIdx.x];
    ((double *)d)[99] = ((const double *)table)[threadIdx.x];
}
extern "C" __global__ void global_atomics_128(unsigned __int128 *d)
{
#if __CUDA_ARCH__ >= 900
    uint64_t a = threadIdx.x, b = 1, c = 3, e = 4, r, s;
    asm volatile("{.reg .b128 x,y,z; mov.b128 x,{%2,%3}; mov.b128 y,{%4,%5}; atom.global.cas.b128 "
                 "z,[%6],x,y; mov.b128 {%0,%1},z;}"
                 : "=l"(r), "=l"(s)
                 : "l"(a), "l"(b), "l"(c), "l"(e), "l"(d)
                 : "memory");
    ((uint64_t *)d)[9] = r ^ s;
    asm volatile(
        "{.reg .b128 x,z; mov.b128 x,{%2,%3}; atom.global.exch.b128 z,[%4],x; mov.b128 {%0,%1},z;}"
        : "=l"(r), "=l"(s)
        : "l"(a), "l"(b), "l"(d + 8)
        : "memory");
    ((uint64_t *)d)[19] = r ^ s;
#endif
}
extern "C" __global__ void vector_reductions(float *d)
{
#if __CUDA_ARCH__ >= 900
    asm volatile("red.global.add.v2.f32 [%0],{%1,%1};" ::"l"(d + 2 * threadIdx.x), "f"(1.f)
                 : "memory");
    asm volatile("red.global.add.v4.f32 [%0],{%1,%1,%1,%1};" ::"l"(d + 4 * threadIdx.x), "f"(1.f)
                 : "memory");
    float a, b, c, e;
    asm volatile("atom.global.add.v4.f32 {%0,%1,%2,%3},[%4],{%5,%5,%5,%5};"
                 : "=f"(a), "=f"(b), "=f"(c), "=f"(e)
                 : "l"(d + 99 * threadIdx.x), "f"(1.f)
                 : "memory");
    d[0] = a + b + c + e;
    short h = 3;
    asm volatile(
        "red.global.add.noftz.v8.f16 [%0],{%1,%1,%1,%1,%1,%1,%1,%1};" ::"l"(d + 16 * threadIdx.x),
        "h"(h)
        : "memory");
    asm volatile("red.global.add.noftz.v4.f16 [%0],{%1,%1,%1,%1};" ::"l"(d + 16 * threadIdx.x),
                 "h"(h)
                 : "memory");
    asm volatile("red.global.add.noftz.v2.f16x2 [%0],{%1,%1};" ::"l"(d + 160 * threadIdx.x), "r"(3)
                 : "memory");
#endif
}
extern "C" __global__ void matrices(int *d)
{
#if __CUDA_ARCH__ >= 750
    unsigned a = __cvta_generic_to_shared(sm) + threadIdx.x * 16;
    int x, y, z, w;
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3},[%4];"
                 : "=r"(x), "=r"(y), "=r"(z), "=r"(w)
                 : "r"(a));
    d[threadIdx.x] = x + y + z + w;
    asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0,%1},[%2+512];"
                 : "=r"(x), "=r"(y)
                 : "r"(a));
    d[threadIdx.x + 1] = x + y;
    asm volatile("ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%0},[%1+32];" : "=r"(x) : "r"(a));
    d[threadIdx.x + 3] = x;
#endif
#if __CUDA_ARCH__ >= 900
    asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%4],{%0,%1,%2,%3};" ::"r"(x), "r"(y),
                 "r"(z), "r"(w), "r"(a));
    asm volatile("stmatrix.sync.aligned.m8n8.x1.trans.shared.b16 [%1+64],{%0};" ::"r"(x), "r"(a));
    asm volatile("stmatrix.sync.aligned.m8n8.x2.shared.b16 [%2],{%0,%1};" ::"r"(x), "r"(y), "r"(a));
#endif
}
extern "C" __global__ void asynchronous_copies(int *d, int n)
{
#if __CUDA_ARCH__ >= 800
    unsigned a = __cvta_generic_to_shared(sm) + threadIdx.x * 16;
    asm volatile("cp.async.ca.shared.global [%0],[%1],4;" ::"r"(a), "l"(d + threadIdx.x));
    asm volatile("cp.async.ca.shared.global [%0+64],[%1+128],8;" ::"r"(a), "l"(d + threadIdx.x));
    asm volatile("cp.async.cg.shared.global [%0+1024],[%1+-256],16;" ::"r"(a),
                 "l"(d + threadIdx.x));
    asm volatile("cp.async.ca.shared.global [%0],[%1],4,%2;" ::"r"(a), "l"(d + threadIdx.x),
                 "r"(n));
    asm volatile("cp.async.cg.shared.global [%0],[%1],16;" ::"r"(a), "l"(d + blockIdx.x));
    asm volatile("cp.async.wait_all;");
    d[threadIdx.x] = sm[threadIdx.x];
#endif
}
extern "C" __global__ void bulk_copies(char *d, unsigned n)
{
#if __CUDA_ARCH__ >= 900
    unsigned a = __cvta_generic_to_shared(dyn), b = __cvta_generic_to_shared(sm);
    asm volatile("mbarrier.init.shared.b64 [%0],1;" ::"r"(b));
    asm volatile(
        "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0],[%1],%2,[%3];" ::
            "r"(a),
        "l"(d), "r"(n), "r"(b));
    asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0],[%1],%2;" ::"l"(d + 4096),
                 "r"(a), "r"(n));
    asm volatile(
        "cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [%0],[%1],%2;" ::"l"(d + 4096),
        "r"(a), "r"(n));
    asm volatile("cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes "
                 "[%0],[%1],%2,[%3];" ::"r"(a + 1024),
                 "r"(a), "r"(n), "r"(b));
    asm volatile("cp.async.bulk.prefetch.L2.global [%0],%1;" ::"l"(d), "r"(n));
    asm volatile("{.reg .b64 s; mbarrier.arrive.shared.b64 s,[%0];}" ::"r"(b));
    asm volatile("st.async.shared::cluster.mbarrier::complete_tx::bytes.u32 [%0],%1,[%2];" ::"r"(a),
                 "r"(n), "r"(b));
    asm volatile(
        "st.async.shared::cluster.mbarrier::complete_tx::bytes.v4.u32 [%0],{%1,%1,%1,%1},[%2];" ::
            "r"(a),
        "r"(n), "r"(b));
    asm volatile("{.reg .pred p; mbarrier.try_wait.parity.shared.b64 p,[%0],0;}" ::"r"(b));
    asm volatile("red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.add.u32 "
                 "[%0],%1,[%2];" ::"r"(a),
                 "r"(n), "r"(b));
    unsigned r;
    asm volatile("mapa.shared::cluster.u32 %0,%1,1;" : "=r"(r) : "r"(a));
    asm volatile("st.shared::cluster.u32 [%0],%1;" ::"r"(r), "r"(n));
    asm volatile("ld.shared::cluster.u32 %0,[%1];" : "=r"(n) : "r"(r));
    asm volatile("red.shared::cluster.add.u32 [%0],%1;" ::"r"(r), "r"(n));
    asm volatile("mbarrier.arrive.shared::cluster.b64 _,[%0];" ::"r"(r));
    d[0] = n;
#endif
}
extern "C" __global__ void prefetches(char *d)
{
    asm volatile("prefetch.global.L2 [%0];" ::"l"(d));
    asm volatile("prefetch.global.L1 [%0+128];" ::"l"(d + threadIdx.x));
#if __CUDA_ARCH__ >= 800
    asm volatile("discard.global.L2 [%0],128;" ::"l"(d));
    asm volatile("applypriority.global.L2::evict_normal [%0],128;" ::"l"(d));
#endif
    asm volatile("prefetchu.L1 [%0];" ::"l"(d));
    __threadfence();
}
extern "C" __global__ void textures_and_surfaces(float *d, cudaTextureObject_t t,
                                                 cudaSurfaceObject_t s)
{
    d[0] = tex1Dfetch<float>(t, threadIdx.x) + tex2D<float>(t, d[1], d[2]);
    surf2Dwrite(d[3], s, 4 * threadIdx.x, 1);
    d[9] = surf2Dread<float>(s, 4, threadIdx.x);
    asm volatile("sured.b.add.2d.u32.clamp [%0,{%1,%1}],%1;" ::"l"(s), "r"(3));
    asm volatile("suld.b.1d.v4.b32.trap {%0,%0,%0,%0},[%1,{%2}];" ::"f"(d[3]), "l"(s), "r"(3));
}
extern "C" __global__ void predicates(int *d, int n)
{
    if (threadIdx.x < n)
        d[threadIdx.x] = 3;
    int v = 0;
    if (threadIdx.x != n)
        v = d[threadIdx.x + 1];
    d[threadIdx.x + 2] = v;
    if (d[5])
        sm[threadIdx.x] = d[9];
    __syncthreads();
    if (n & 4)
        d[2] = sm[n];
}
extern "C" __global__ void cache_hints(int *d, const int *s, uint64_t pol)
{
#if __CUDA_ARCH__ >= 800
    int v;
    asm volatile("ld.global.L1::no_allocate.L2::cache_hint.u32 %0,[%1],%2;"
                 : "=r"(v)
                 : "l"(s + threadIdx.x), "l"(pol));
    asm volatile("st.global.L2::cache_hint.u32 [%0],%1,%2;" ::"l"(d + threadIdx.x), "r"(v),
                 "l"(pol));
    asm volatile("red.global.add.L2::cache_hint.u32 [%0],%1,%2;" ::"l"(d + threadIdx.x), "r"(v),
                 "l"(pol));
    asm volatile("atom.global.add.L2::cache_hint.u32 %0,[%1],%0,%2;"
                 : "+r"(v)
                 : "l"(d + threadIdx.x), "l"(pol));
    d[0] = v;
    asm volatile("cp.async.cg.shared.global.L2::cache_hint [%0+1024],[%1+-256],16,%2;" ::"r"(v),
                 "l"(d + threadIdx.x), "l"(pol));
#endif
    d[1] = __ldg(s + 3) + __ldcg(s + 4) + __ldcs(s + 5) + __ldca(s + 6) + __ldcv(s + 7) +
           __ldlu(s + 8);
    __stcs(d + 5, 3);
    __stwt(d + 6, 3);
}
extern "C" __global__ void memory_orders(int *d, int *s)
{
    int v;
    asm volatile("ld.acquire.gpu.global.u32 %0,[%1];" : "=r"(v) : "l"(s + threadIdx.x));
    asm volatile("st.release.sys.global.u32 [%0],%1;" ::"l"(d + threadIdx.x), "r"(v));
    asm volatile("ld.relaxed.cta.shared.u32 %0,[%1];" : "=r"(v) : "r"(v));
    asm volatile("st.release.gpu.shared.u32 [%0],%1;" ::"r"(v), "r"(v));
    asm volatile("ld.acquire.gpu.u32 %0,[%1];" : "=r"(v) : "l"(s + threadIdx.x + 4));
    d[3] = v;
}
extern "C" __global__ void wide_words(int4 *d, const int4 *s)
{
#if __CUDA_ARCH__ >= 1000
    uint64_t a, b, c, e;
    asm volatile("ld.global.v4.b64 {%0,%1,%2,%3},[%4];"
                 : "=l"(a), "=l"(b), "=l"(c), "=l"(e)
                 : "l"(s + 2 * threadIdx.x));
    asm volatile("st.global.v4.b64 [%4],{%0,%1,%2,%3};" ::"l"(a), "l"(b), "l"(c), "l"(e),
                 "l"(d + 2 * threadIdx.x));
    int x;
    asm volatile("ld.global.v8.b32 {%0,_,_,_,_,_,_,%1},[%2];"
                 : "=r"(x), "=r"(x)
                 : "l"(s + 2 * threadIdx.x));
    d[0].x = x;
#endif
}
extern "C" __global__ void multicast(float *d)
{
#if __CUDA_ARCH__ >= 900
    float v;
    asm volatile("multimem.ld_reduce.global.add.f32 %0,[%1];" : "=f"(v) : "l"(d + threadIdx.x));
    asm volatile("multimem.st.global.f32 [%0],%1;" ::"l"(d + threadIdx.x), "f"(v));
    asm volatile("multimem.red.global.add.f32 [%0],%1;" ::"l"(d + threadIdx.x), "f"(v));
#endif
}
__device__ __noinline__ int deep(int *p, int n)
{
    volatile int a[9];
    for (int i = 0; i < 9; i++)
        a[i] = p[i];
    if (n)
        return deep(p + 1, n - 1) + a[n % 9];
    return a[p[0] % 9];
}
extern "C" __global__ void stack_frames(int *d, int n)
{
    d[0] = deep(d, n);
}
extern "C" __global__ void warp_reductions(unsigned *d)
{
#if __CUDA_ARCH__ >= 800
    d[0] = __reduce_add_sync(~0u, threadIdx.x);
#endif
    d[1] = __shfl_xor_sync(~0u, threadIdx.x, 1);
}
extern "C" __global__ void offsets(int *d, int off)
{
    int v;
    asm volatile("ld.global.u32 %0,[%1+-8388608];" : "=r"(v) : "l"(d));
    asm volatile("ld.global.u32 %0,[%1+8388604];" : "=r"(v) : "l"(d));
    d[1] = v;
    d[off + (threadIdx.x << 2)] = v;
    *(int *)((char *)d + (uint64_t)(unsigned)off * 1) = 4;
    *(int *)((char *)d + (uint64_t)threadIdx.x) = 4;
    *(int *)((char *)d + (uint64_t)blockIdx.x * 12 + threadIdx.x * 4) = 4;
}
extern "C" __global__ void multicast_integers(uint64_t *d)
{
#if __CUDA_ARCH__ >= 900
    uint64_t v;
    uint32_t w;
    int s;
    asm volatile("multimem.ld_reduce.relaxed.sys.global.min.u64 %0,[%1];" : "=l"(v) : "l"(d));
    d[threadIdx.x] = v;
    asm volatile("multimem.ld_reduce.relaxed.sys.global.add.u64 %0,[%1+8];" : "=l"(v) : "l"(d));
    d[threadIdx.x + 32] = v;
    asm volatile("multimem.ld_reduce.relaxed.sys.global.max.s64 %0,[%1+16];" : "=l"(v) : "l"(d));
    d[threadIdx.x + 64] = v;
    asm volatile("multimem.ld_reduce.relaxed.sys.global.add.u32 %0,[%1+8];" : "=r"(w) : "l"(d));
    d[threadIdx.x + 92] = w;
    asm volatile("multimem.ld_reduce.relaxed.sys.global.min.s32 %0,[%1+12];" : "=r"(s) : "l"(d));
    d[threadIdx.x + 128] = s;
    asm volatile("multimem.ld_reduce.relaxed.sys.global.and.b32 %0,[%1+12];" : "=r"(s) : "l"(d));
    d[threadIdx.x + 160] = s;
    asm volatile("multimem.ld_reduce.relaxed.sys.global.xor.b64 %0,[%1+8];" : "=l"(v) : "l"(d));
    d[threadIdx.x + 192] = v;
    asm volatile("multimem.red.relaxed.sys.global.add.u64 [%0],%1;" ::"l"(d), "l"(v));
    asm volatile("multimem.st.relaxed.sys.global.u64 [%0],%1;" ::"l"(d), "l"(v));
    asm volatile("multimem.red.relaxed.sys.global.min.s32 [%0],%1;" ::"l"(d), "r"(s));

#endif
}
extern "C" __global__ void images_of_threads(float4 *d, cudaTextureObject_t *t,
                                             cudaSurfaceObject_t *s, int n)
{
    for (int i = 0; i < n; i++) {
        cudaTextureObject_t o = t[i + threadIdx.x];
        d[i] = tex2D<float4>(o, d[i].x, d[i].y);
        d[i + 1] = tex1Dfetch<float4>(o, i);
        d[i + 2] = tex2DLod<float4>(o, 1, 2, d[i].z);
        d[i + 3] = tex2Dgather<float4>(o, 1, 2, 1);
        d[i + 4] = tex2DGrad<float4>(o, 1, 2, make_float2(1, d[i].x), make_float2(1, 2));
        d[i + 5] = texCubemap<float4>(o, 1, 2, 3);
        cudaSurfaceObject_t q = s[i + threadIdx.x];
        surf2Dwrite(d[i], q, i, 3);
        d[i + 6] = surf3Dread<float4>(q, i, 2, 3);
        asm volatile("sust.p.2d.v4.b32.trap [%0,{%1,%1}],{%1,%1,%1,%1};" ::"l"(q), "r"(i));
        asm volatile("sust.b.2d.b8.trap [%0,{%1,%1}],%2;" ::"l"(q), "r"(i), "h"((short)i));
        asm volatile("sured.b.min.2d.s32.trap [%0,{%1,%1}],%1;" ::"l"(q), "r"(i));
        asm volatile("sured.p.add.2d.b32.trap [%0,{%1,%1}],%1;" ::"l"(q), "r"(i));
        int w;
        asm volatile("txq.width.b32 %0,[%1];" : "=r"(w) : "l"(o));
        d[i + 7].x = w;
    }
}
extern "C" __global__ void images(float4 *d, cudaTextureObject_t o, cudaSurfaceObject_t q, int i)
{
    asm volatile("sust.p.2d.v4.b32.trap [%0,{%1,%1}],{%1,%1,%1,%1};" ::"l"(q), "r"(i));
    asm volatile("sured.p.add.2d.b32.trap [%0,{%1,%1}],%1;" ::"l"(q), "r"(i));
    surf1Dwrite(d[i], q, 5);
    surf1Dwrite(d[i].x, q, 0);
    d[i + 6] = surf1Dread<float4>(q, 8);
}
