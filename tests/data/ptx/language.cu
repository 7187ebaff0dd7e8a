/* Corpus: the language features a CUDA C++ program uses without any library: templates, structs by
 * value, all state spaces, calls of every kind, atomics, printf, vectors, warp intrinsics. */
#include <cstdio>
#include <cuda_bf16.h>
#include <cuda_fp16.h>

struct inner {
    float *data;
    int count;
};
struct outer {
    char tag;
    inner parts[3];
    const double *scale;
};

__device__ int counters[16] = {1, 2, 3};
__device__ float table[4][4] = {{0.5f, 1.0f}, {2.0f}};
__device__ int *into_counters = counters + 4;
__constant__ float coefficients[8] = {1.0f, -2.5f, 3.25f};
__managed__ int shared_with_host = 7;
__device__ const char *message = "hello\n\t\"quoted\"";

__global__ void saxpy(float *y, const float *__restrict__ x, float a, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = a * x[i] + y[i];
}

template <typename T, int N> __global__ void transpose(T *out, const T *in, int width, int height)
{
    __shared__ T tile[N][N + 1];
    int x = blockIdx.x * N + threadIdx.x, y = blockIdx.y * N + threadIdx.y;
    if (x < width && y < height)
        tile[threadIdx.y][threadIdx.x] = in[y * width + x];
    __syncthreads();
    x = blockIdx.y * N + threadIdx.x;
    y = blockIdx.x * N + threadIdx.y;
    if (x < height && y < width)
        out[y * height + x] = tile[threadIdx.x][threadIdx.y];
}
template __global__ void transpose<float, 16>(float *, const float *, int, int);
template __global__ void transpose<double, 8>(double *, const double *, int, int);
template __global__ void transpose<unsigned char, 32>(unsigned char *, const unsigned char *, int,
                                                      int);

__global__ void by_value(outer o, int which)
{
    o.parts[1].data[threadIdx.x] = (float)o.scale[threadIdx.x];
    o.parts[which].data[0] += o.tag;
}

__device__ __noinline__ int ackermann(int m, int n)
{
    return m == 0 ? n + 1 : n == 0 ? ackermann(m - 1, 1) : ackermann(m - 1, ackermann(m, n - 1));
}
struct wide {
    double a, b, c;
    int d;
};
__device__ __noinline__ wide make_wide(wide w, const float4 &f)
{
    w.a += f.x;
    w.b *= f.y;
    w.d ^= (int)f.z;
    return w;
}
__global__ void calls(int *out, wide *wides, float4 f)
{
    out[threadIdx.x] = ackermann(2, threadIdx.x);
    wides[threadIdx.x] = make_wide(wides[threadIdx.x], f);
}

typedef float (*unary)(float);
__device__ __noinline__ float twice(float x)
{
    return 2 * x;
}
__device__ __noinline__ float half_of(float x)
{
    return 0.5f * x;
}
__device__ unary functions[2] = {twice, half_of};
__global__ void indirect(float *p, int which)
{
    p[threadIdx.x] = functions[which](p[threadIdx.x]);
}

struct shape {
    __device__ virtual float area() const = 0;
    __device__ virtual ~shape() {}
};
struct square : shape {
    float side;
    __device__ square(float s) : side(s) {}
    __device__ float area() const override
    {
        return side * side;
    }
};
struct circle : shape {
    float radius;
    __device__ circle(float r) : radius(r) {}
    __device__ float area() const override
    {
        return 3.14159f * radius * radius;
    }
};
__global__ void virtuals(float *out, int n)
{
    shape *s = n & 1 ? (shape *)new square(n) : (shape *)new circle(n);
    *out = s->area();
    delete s;
}

__global__ void atomics(int *i, unsigned *u, unsigned long long *ull, float *f, double *d,
                        __half2 *h)
{
    atomicAdd(i, 1);
    atomicMax(i, threadIdx.x);
    atomicCAS(u, 1u, 2u);
    atomicInc(u, 5u);
    atomicExch(ull, 7ull);
    atomicAdd(f, 1.0f);
    atomicAdd(d, 1.0);
    atomicAdd(h, __half2half2(__float2half(1.0f)));
    atomicAdd_block(i, 2);
    atomicAdd_system(i, 3);
    u[1] = atomicOr(&counters[2], 4);
    __threadfence();
    __threadfence_block();
    __threadfence_system();
}

__global__ void printing(const char *name, float x, int i, long long l)
{
    printf("thread %d: %s %f %lld\n", i, name, x, l);
    printf("%s", message);
}

__global__ void warp(int *p, float *f)
{
    int v = p[threadIdx.x];
    v += __shfl_xor_sync(0xffffffff, v, 16);
    v += __shfl_down_sync(0xffffffff, v, 8, 16);
    v += __shfl_up_sync(0xffffffff, v, 1);
    v += __shfl_sync(0xffffffff, v, 3);
    v += __popc(__ballot_sync(0xffffffff, v > 3));
    v += __any_sync(0xffffffff, v > 5) + __all_sync(0xffffffff, v < 9);
    int all;
    v += __match_any_sync(0xffffffff, v) + __match_all_sync(0xffffffff, v, &all) + all;
    v += __activemask();
    __syncwarp();
    v += __syncthreads_count(v) + __syncthreads_and(v) + __syncthreads_or(v);
    f[threadIdx.x] = __expf(v) + sinf((float)v) + powf((float)v, 1.5f) + sqrtf(v) + rsqrtf(v) +
                     __fdividef(v, 3.0f) + fmodf(v, 2.0f) + erff(v) + tanhf(v);
    p[threadIdx.x] = v + __clz(v) + __ffs(v) + __brev(v) + __byte_perm(v, 3, 0x1234) +
                     __mulhi(v, 77) + __dp4a(v, 3, 4) + __vabsdiffu4(v, 9) +
                     __funnelshift_l(v, 3, 5);
}

__global__ void vectors(float4 *a, const int2 *b, longlong2 *c, uchar4 *d, short4 *e, double2 *g)
{
    float4 v = a[threadIdx.x];
    v.x += b[threadIdx.x].y;
    a[threadIdx.x + 32] = v;
    c[threadIdx.x].x = clock64();
    d[threadIdx.x] = make_uchar4(e[threadIdx.x].x, 2, 3, 4);
    g[threadIdx.x] = make_double2(v.x, v.y / 3.0);
}

__global__ void halves(__half *h, __nv_bfloat16 *b, double *d)
{
    h[threadIdx.x] = __hadd(h[threadIdx.x], __float2half(1.5f));
    b[threadIdx.x] = __hmul(b[threadIdx.x], __float2bfloat16(2.5f));
    __half2 *h2 = (__half2 *)h;
    h2[threadIdx.x] = __hfma2(h2[threadIdx.x], h2[threadIdx.x + 1], h2[threadIdx.x + 2]);
    d[threadIdx.x] = exp(d[threadIdx.x]) + sin(d[threadIdx.x]) + 1.0 / d[threadIdx.x] +
                     (double)h[3] + (long long)d[4] + (unsigned char)d[5];
}

extern __shared__ double dynamic_shared[];
__global__ void __launch_bounds__(256, 2)
    dynamic(double *p, cudaTextureObject_t texture, cudaSurfaceObject_t surface)
{
    dynamic_shared[threadIdx.x] = p[threadIdx.x];
    __syncthreads();
    int local[32];
    for (int i = 0; i < 32; i++)
        local[(i * (int)dynamic_shared[i]) & 31] = i;
    p[threadIdx.x] = local[threadIdx.x & 31] + tex2D<float>(texture, 0.5f, 0.25f) +
                     coefficients[threadIdx.x & 7] + table[1][threadIdx.x & 3] + *into_counters;
    surf2Dwrite(1.0f, surface, 4, 5);
    shared_with_host++;
}

__global__ void switched(int *p, int n)
{
    switch (p[threadIdx.x]) {
    case 0:
        p[0] = 3;
        break;
    case 1:
        p[1] = n;
        break;
    case 2:
        p[2] = 9 * n;
    case 3:
        p[3] = n / 3;
        break;
    case 4:
        p[4] = n % 7;
        break;
    case 5:
        p[5] = (unsigned)n / 10u;
        break;
    case 6:
        p[6] = n >> 3;
        break;
    case 7:
        p[7] = 1 << n;
        break;
    default:
        asm volatile("{ .reg .b32 t; .reg .pred q; setp.ne.b32 q, %0, 0; @!q mov.b32 t, 1; "
                     "@q mov.b32 t, 2; st.global.b32 [%1], t; }" ::"r"(n),
                     "l"(p)
                     : "memory");
    }
}
