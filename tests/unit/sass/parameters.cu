/* Kernels that read some of their parameters, for test_machine_code.c, which says which. */
#include <cassert>
#include <cstdio>

struct parts {
    int count; /* and four bytes of nothing */
    float *data;
    int table[16];
    double scale;
    unsigned char flag;
    long long rest;
};

__global__ void reads_some(parts p)
{
    p.data[threadIdx.x] = p.scale + p.flag;
}

__global__ void reads_some_of_many(parts p, int unused, long long a, float b, parts q)
{
    for (int i = threadIdx.x; i < q.count; i += blockDim.x * gridDim.x)
        q.data[i] = fmaf(p.data[i], b, (float)(a + i));
}

__global__ void reads_nothing(parts p) {}

/* An array up to its length, as PyTorch's OffsetCalculator has it. */
struct dimensions {
    int count, sizes[8], strides[8];
};

__global__ void reads_dimensions(dimensions d, float *data)
{
    int at = 0;
    unsigned rest = threadIdx.x;
#pragma unroll
    for (int i = 0; i < 8; i++) {
        if (i == d.count)
            break;
        at += rest % d.sizes[i] * d.strides[i];
        rest /= d.sizes[i];
    }
    data[at] = 1;
}

/* A table says which array belongs to a block, as PyTorch's kernels for many tensors have it. */
struct arrays {
    float *data[6];
    int lengths[6];
    unsigned char of_block[24];
    int part_of_block[24];
};

__global__ void reads_tables(arrays a)
{
    int of = a.of_block[blockIdx.x], from = a.part_of_block[blockIdx.x] * 1024;
    for (int i = from + threadIdx.x; i < from + 1024 && i < a.lengths[of]; i += blockDim.x)
        a.data[of][i] = 1;
}

static __device__ __noinline__ int sum(const parts *p, int step)
{
    int total = 0;
    for (int i = 0; i < p->count; i++)
        total += p->table[i * step & 15];
    return total;
}

/* Data decides which words; the address is the parameter's own. */
__global__ void takes_an_address(const __grid_constant__ parts p)
{
    p.data[threadIdx.x] = sum(&p, threadIdx.x);
}

__global__ void keeps_an_address(const __grid_constant__ parts p, const parts **to)
{
    *to = &p;
}

/* As PyTorch's TensorInfo: entries behind `dims` were never set. */
struct tensor {
    float *data;
    unsigned sizes[8], strides[8];
    int dims;
};

/* Of one dimension the stride, and of a matrix' others; the dimension is a parameter. An index that
 * is too large fails an assertion, as in PyTorch's index_select. */
__global__ void reads_one_dimension(const __grid_constant__ tensor to,
                                    const __grid_constant__ tensor from, const long *indices,
                                    int dim, int other, unsigned count, long most)
{
    for (unsigned i = 0; i < count; i++) {
        const long index = indices[i];
        assert(index < most);
        const unsigned at = i * to.strides[dim], of = (unsigned)index * from.strides[other];
        for (unsigned k = threadIdx.x; k < to.sizes[0]; k += blockDim.x)
            to.data[at + k * to.strides[0]] = from.data[of + k * from.strides[0]];
    }
}

/* Control comes back from this call: what registers hold behind it nobody knows. */
__global__ void prints_meanwhile(const __grid_constant__ tensor of, int dim, unsigned count)
{
    for (unsigned i = threadIdx.x; i < count; i += blockDim.x) {
        if (of.data[i] > 1)
            printf("%u is more\n", i);
        of.data[i * of.strides[dim]] = 1;
    }
}
