// Kernels for test_device_kernel.c, loaded through the driver API.
#include <cassert>
#include <cooperative_groups.h>

extern "C" {

__device__ int counter = 5;
__device__ int *counter_pointer = &counter;
__constant__ int table[4] = {10, 20, 30, 40};
__managed__ int managed_value = 77;

struct pair {
    int *target;
    short step;
    long long scale;
};

__global__ void add(int *p, int value, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        p[i] += value;
}

__global__ void multiply(int *p, int value, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        p[i] *= value;
}

__global__ void by_value(char first, pair argument, double last)
{
    *argument.target = first + argument.step * (int)argument.scale + (int)last;
}

__global__ void reverse(int *p)
{
    extern __shared__ int block[];
    block[threadIdx.x] = p[threadIdx.x];
    __syncthreads();
    p[threadIdx.x] = block[blockDim.x - 1 - threadIdx.x];
}

// Not atomic, and slow between the load and the store: two of them at once lose counts.
__global__ void count_up(volatile int *p, int rounds)
{
    for (int i = 0; i < rounds; i++) {
        int seen = *p;
        for (int pause = *p & 7; pause >= 0; pause--)
            (void)*p;
        *p = seen + 1;
    }
}

__global__ void wait_for(volatile int *flag, int value, int *result)
{
    while (*flag != value)
        ;
    *result = value;
}

__global__ void set_flag(volatile int *flag, int value)
{
    *flag = value;
}

__global__ void use_variables(int *out)
{
    *counter_pointer += 1;
    out[0] = counter;
    out[1] = table[threadIdx.x + 2];
    out[2] = managed_value++;
}

// Each block adds its part; after the grid's barrier every block sees the whole.
__global__ void sum_over_grid(int *sum, int *out)
{
    if (threadIdx.x == 0)
        atomicAdd(sum, blockIdx.x + 1);
    cooperative_groups::this_grid().sync();
    if (threadIdx.x == 0)
        out[blockIdx.x] = *(volatile int *)sum;
    cooperative_groups::this_grid().sync();
    if (threadIdx.x == 0)
        atomicAdd(sum, 1);
}

__global__ void __launch_bounds__(64) bounded(int *p)
{
    *p = 1;
}

__global__ void bad_address(int *p, long long offset)
{
    p[offset] = 1;
}
__global__ void misaligned(char *p)
{
    *(int *)(p + 1) = 1;
}
__global__ void traps()
{
    __trap();
}
__global__ void asserts(int *p)
{
    assert(p == nullptr);
}
}
