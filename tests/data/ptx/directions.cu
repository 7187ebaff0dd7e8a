/* Kernels whose directions are known: test_access_direction.c lists what each must give. extern "C"
 * keeps the names plain. */
#include <cstdint>
#include <cstdio>
#include <cuda/atomic>
#include <mma.h>

struct pair {
    float *out;
    int n;
    const float *in;
};
struct many {
    float *lanes[4];
    int count;
};
__device__ int counter;
__device__ float table[64];
__constant__ float weights[16];
__device__ float *stored_pointer;
__managed__ int flag;
extern __shared__ float dynamic[];

extern "C" {
__global__ void saxpy(float *y, const float *x, float a, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] += a * x[i];
}
__global__ void write_only(float *p, int n)
{
    p[threadIdx.x + n] = 1;
}
__global__ void untouched(float *p, const float *q, float *r)
{
    *r = p == q ? 1.f : 2.f;
}
__global__ void by_value(pair v)
{
    v.out[threadIdx.x] = v.in[threadIdx.x] * v.n;
}
__global__ void struct_behind(int a, pair v, char b, float *last)
{
    *last = v.in[a] + b;
}
__global__ void indexed(many m, int which)
{
    m.lanes[which & 3][threadIdx.x] = m.count;
}
__global__ void indexed_in_place(const __grid_constant__ many m, int which)
{
    m.lanes[which & 3][threadIdx.x] = m.count;
}
__global__ void variables(float *p)
{
    counter += 1;
    table[threadIdx.x] = weights[threadIdx.x & 15];
    *p = table[0];
    flag = 1;
}

__device__ __noinline__ float read_one(const float *p, int i)
{
    return p[i];
}
__device__ __noinline__ void write_one(float *p, int i, float x)
{
    p[i] = x;
}
__global__ void through_calls(float *out, const float *in, float *unused, int n)
{
    write_one(out, threadIdx.x, read_one(in, n));
}
struct deep {
    pair p;
    float *extra;
};
__device__ __noinline__ void struct_callee(deep d, int i)
{
    d.p.out[i] = d.p.in[i] + *d.extra;
}
__global__ void struct_to_call(deep d, int i)
{
    struct_callee(d, i);
}
__device__ __noinline__ pair make_pair(float *out, const float *in)
{
    pair p = {out, 3, in};
    return p;
}
__global__ void struct_from_call(float *out, const float *in)
{
    pair p = make_pair(out, in);
    p.out[threadIdx.x] = p.in[threadIdx.x];
}
__device__ __noinline__ float recurse(const float *p, float *q, int n)
{
    if (n <= 0)
        return *p;
    float x = recurse(p + 1, q, n - 1) + recurse(p + 2, q + 1, n / 2);
    q[n] = x;
    return x;
}
__global__ void recursion(const float *p, float *q, int n)
{
    recurse(p, q, n);
}

typedef void (*writer)(float *, int, float);
__device__ __noinline__ void write_two(float *p, int i, float x)
{
    p[2 * i] = x;
}
__device__ writer writers[2] = {write_one, write_two};
__global__ void function_pointer(float *p, int which)
{
    writers[which](p, threadIdx.x, 1);
}
__global__ void function_select(float *p, int which)
{
    writer w = which ? write_one : write_two;
    w(p, threadIdx.x, 2);
}

__global__ void generic_shared(float *out, int which)
{
    __shared__ float tile[64];
    float *p = which ? tile : dynamic;
    p[threadIdx.x] = 1;
    __syncthreads();
    *(volatile float *)(p + 1) = 3;
    out[threadIdx.x] = p[63 - threadIdx.x];
}
__global__ void generic_either(float *out, int which)
{
    __shared__ float tile[64];
    float *p = which ? tile : out;
    p[threadIdx.x] = 1;
}
__global__ void pointer_select(float *a, float *b, int which)
{
    float *p = which ? a : b;
    p[threadIdx.x] = 4;
}
__global__ void pointer_bump(float *out, const float *in, int n)
{
    float sum = 0;
    for (const float *end = in + n; in < end; in += blockDim.x)
        sum += *in;
    *out = sum;
}
__global__ void byte_offset(char *p, size_t n, const char *q)
{
    p[n] = q[n + 1];
}
__global__ void size_stride(float *p, size_t stride, const float *q)
{
    p[threadIdx.x * stride] = q[threadIdx.x + stride];
}
__global__ void as_integer(uint64_t address, uint64_t offset)
{
    *(float *)(address + offset) = 1;
}
__global__ void as_integer_alone(uint64_t address)
{
    *(float *)(address + 64) = 1;
}
__global__ void data_index(float *p, const long long *index, float *out)
{
    out[index[threadIdx.x]] = p[index[threadIdx.x + 1]];
}
__global__ void byte_data_index(char *p, const long long *index)
{
    p[index[threadIdx.x]] = 1;
}

__global__ void atomics(int *a, unsigned *b, float *c)
{
    atomicAdd(a, 1);
    b[1] = atomicCAS(b, 1u, 2u);
    atomicAdd(c, 1.0f);
}
__global__ void block_atomics(int *a, int *b)
{
    atomicAdd_block(a, 1);
    atomicAdd_system(b, 1);
}
__global__ void volatiles(volatile int *a, int *b)
{
    while (a[0] == 0)
        ;
    a[1] = 1;
    *b = 2;
}
__global__ void scoped(cuda::atomic<int, cuda::thread_scope_device> *device,
                       cuda::atomic<int, cuda::thread_scope_block> *block, int *data)
{
    device->store(1, cuda::memory_order_release);
    block->store(1, cuda::memory_order_release);
    if (device->load(cuda::memory_order_acquire))
        *data = block->load(cuda::memory_order_relaxed);
}
__global__ void async_copy(float *out, const float *in)
{
    __shared__ float tile[32];
    unsigned to = (unsigned)__cvta_generic_to_shared(&tile[threadIdx.x]);
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(to), "l"(in + threadIdx.x));
    asm volatile("cp.async.commit_group; cp.async.wait_group 0;" ::: "memory");
    out[threadIdx.x] = tile[threadIdx.x];
}
__global__ void bulk_copy(float *out, const float *in, unsigned mbarrier)
{
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes "
                 "[%0], [%1], 64, [%2];" ::"r"(0u),
                 "l"(in), "r"(mbarrier)
                 : "memory");
    asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], 64;" ::"l"(out), "r"(0u)
                 : "memory");
    asm volatile("cp.async.bulk.prefetch.L2.global [%0], 64;" ::"l"(in) : "memory");
}
__global__ void matrix(float *c, const __half *a, const __half *b)
{
    using namespace nvcuda::wmma;
    fragment<matrix_a, 16, 16, 16, __half, row_major> fa;
    fragment<matrix_b, 16, 16, 16, __half, col_major> fb;
    fragment<accumulator, 16, 16, 16, float> fc;
    fill_fragment(fc, 0.0f);
    load_matrix_sync(fa, a, 16);
    load_matrix_sync(fb, b, 16);
    mma_sync(fc, fa, fb, fc);
    store_matrix_sync(c, fc, 16, mem_row_major);
}
__global__ void prefetches(const float *p, float *q)
{
    asm volatile("prefetch.global.L2 [%0];" ::"l"(p));
    *q = 1;
}

__global__ void loaded_pointer(float **list, float *out)
{
    out[0] = *list[threadIdx.x];
}
__global__ void pointer_in_variable(float *out)
{
    *out = *stored_pointer;
}
__global__ void pointers_in_shared(float *a, float *b, int n)
{
    __shared__ float *slots[2];
    slots[0] = a;
    slots[1] = b;
    __syncthreads();
    slots[n & 1][threadIdx.x] = 1;
}
__global__ void local_array(float *a, float *b, const float *c, int n)
{
    float *slots[4] = {a, b, a + 8, b + 8};
    const float *source = c;
    slots[n & 3][threadIdx.x] = *source;
}
__global__ void split_pointer(float *p, float *q)
{
    unsigned lo, hi;
    float *joined;
    asm volatile("mov.b64 {%0, %1}, %2;" : "=r"(lo), "=r"(hi) : "l"(p));
    lo = __shfl_sync(0xffffffff, lo, 0);
    hi = __shfl_sync(0xffffffff, hi, 0);
    asm volatile("mov.b64 %0, {%1, %2};" : "=l"(joined) : "r"(lo), "r"(hi));
    *joined = *q;
}
__global__ void difference(float *p, float *q, int n)
{
    ptrdiff_t d = p - q;
    q[d + n] = 1;
}
__global__ void printing(int *p, const char *text)
{
    printf("%d %p\n", *p, text);
}
__global__ void heap(int *out, int n)
{
    int *mine = (int *)malloc(n * sizeof(int));
    mine[threadIdx.x] = n;
    *out = mine[0];
    free(mine);
}
__global__ void textures(float *out, cudaTextureObject_t texture)
{
    out[threadIdx.x] = tex1Dfetch<float>(texture, threadIdx.x);
}
__device__ __noinline__ float *advance(float *p, int n)
{
    return p + n;
}
__global__ void returned_pointer(float *p, int n)
{
    *advance(p, n) = 1;
}
__global__ void empty() {}
}

struct base {
    __device__ virtual void act(float *p)
    {
        *p = 1;
    }
};
struct derived : base {
    __device__ void act(float *p) override
    {
        p[1] = p[2];
    }
};
extern "C" __global__ void virtual_call(float *p, int which)
{
    base b;
    derived d;
    base *object = which ? &b : &d;
    object->act(p);
}
