// Kernels whose blocks may run in any order, and some whose results depend on that order.
extern "C" __global__ void scale(float *y, const float *x, int n, int rounds)
{
    __shared__ float tile[128];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    tile[threadIdx.x] = i < n ? x[i] : 0;
    __syncthreads();
    if (i >= n)
        return;
    float sum = 0;
    for (int k = 0; k < rounds; k++)
        sum = sum * 0.5f + tile[(threadIdx.x + k) % blockDim.x];
    y[i] = sum;
}

// Whole numbers added where nobody looks.
extern "C" __global__ void histogram(unsigned *bins, const unsigned *values, int n, int rounds)
{
    __shared__ unsigned own[64];
    if (threadIdx.x < 64)
        own[threadIdx.x] = 0;
    __syncthreads();
    for (int k = 0; k < rounds; k++)
        for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
            atomicAdd(&own[(values[i] + k) % 64], 1);
    __syncthreads();
    if (threadIdx.x < 64)
        atomicAdd(&bins[threadIdx.x], own[threadIdx.x]);
}

extern "C" __global__ void faulty(int *data, const int *, int bad, int rounds)
{
    int sum = 0;
    for (int k = 0; k < rounds; k++)
        sum += data[(blockIdx.x + k) % 64];
    if (blockIdx.x >= bad)
        data[1ull << 40] = sum;
    if (sum == 12345)
        data[64] = sum;
}

extern "C" __global__ void tickets(unsigned *order, unsigned *next, int, int)
{
    if (threadIdx.x == 0)
        order[blockIdx.x] = atomicAdd(next, 1);
}

extern "C" __global__ void floats(float *sum, const float *x, int n, int)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        atomicAdd(sum, x[i]);
}

extern "C" __global__ void waits(int *flags, const int *, int, int)
{
    if (threadIdx.x)
        return;
    if (blockIdx.x)
        while (((volatile int *)flags)[blockIdx.x - 1] == 0)
            ;
    ((volatile int *)flags)[blockIdx.x] = 1;
}

__device__ unsigned through_call(unsigned *next);
__device__ __noinline__ unsigned through_call(unsigned *next)
{
    return atomicAdd(next, 1);
}
extern "C" __global__ void tickets_in_call(unsigned *order, unsigned *next, int, int)
{
    if (threadIdx.x == 0)
        order[blockIdx.x] = through_call(next);
}
