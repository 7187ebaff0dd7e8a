// Kernels for tests/shell/test_kernels.sh, which compiles them in every form that a file can have.
#include "part.h"

struct view {
    long count;
    float *data;
    int pitch;
};

__device__ int counter;
namespace places
{
__device__ int visits[64];
}

__global__ void scale(float *p, float factor, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        p[i] *= factor;
}

template <class T> __global__ void fill(T *p, T value, int n)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        p[i] = value;
}
template __global__ void fill<float>(float *, float, int);
template __global__ void fill<double>(double *, double, int);

__global__ void in_struct(view v, int row)
{
    v.data[row * v.pitch + threadIdx.x] = 1;
}

__global__ void gather(float *out, const float *in, const int *index)
{
    out[threadIdx.x] = in[index[threadIdx.x]];
}

__global__ void tile(float *out, int width)
{
    out[(blockIdx.y * 16 + threadIdx.y) * width + blockIdx.x * 16 + threadIdx.x] = 1;
}

__global__ void count()
{
    atomicAdd(&counter, 1);
}

__global__ void visit()
{
    places::visits[threadIdx.x] = 1;
}

struct large {
    char bytes[5000];
    float *p;
};

__global__ void with_large(char first, float *p, large l, short last)
{
    p[first + last] = l.bytes[threadIdx.x];
}

__global__ void empty() {}

#ifdef __CUDACC_RDC__
__global__ void across_units(float *p)
{
    store(p + 1, threadIdx.x);
}
#endif

int main()
{
    return 0;
}
