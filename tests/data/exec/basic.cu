/* Straight code, branches, loops, shared memory, calls, printf: what every program has. */
#include <cassert>
#include <cstdio>

__global__ void saxpy(float *y, const float *x, float a, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = a * x[i] + y[i];
}

__global__ void reduce(float *out, const float *in, int n)
{
    __shared__ float partial[256];
    float sum = 0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x)
        sum += in[i];
    partial[threadIdx.x] = sum;
    __syncthreads();
    for (int s = blockDim.x / 2; s > 0; s >>= 1) {
        if (threadIdx.x < s)
            partial[threadIdx.x] += partial[threadIdx.x + s];
        __syncthreads();
    }
    if (threadIdx.x == 0)
        out[blockIdx.x] = partial[0];
}

__global__ void shuffle_sum(int *out, const int *in)
{
    int value = in[threadIdx.x];
    for (int offset = 16; offset > 0; offset /= 2)
        value += __shfl_down_sync(0xffffffffu, value, offset);
    if (threadIdx.x % 32 == 0)
        out[threadIdx.x / 32] = value;
}

/* Collatz: every lane loops for its own time. */
__global__ void collatz(int *steps, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    unsigned long long x = i + 1;
    int count = 0;
    while (x != 1) {
        x = x & 1 ? 3 * x + 1 : x / 2;
        count++;
    }
    steps[i] = count;
}

__device__ __noinline__ int fibonacci(int n)
{
    return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2);
}

__global__ void recursion(int *out)
{
    out[threadIdx.x] = fibonacci(threadIdx.x % 12);
}

typedef int operation(int, int);
__device__ __noinline__ int add(int a, int b)
{
    return a + b;
}
__device__ __noinline__ int subtract(int a, int b)
{
    return a - b;
}
__device__ __noinline__ int multiply(int a, int b)
{
    return a * b;
}
__device__ operation *operations[3] = {add, subtract, multiply};

__global__ void pointers(int *out)
{
    int i = threadIdx.x;
    out[i] = operations[i % 3](i, 7);
}

struct shape {
    __device__ virtual float area() const = 0;
};
struct square : shape {
    float side;
    __device__ square(float s) : side(s) {}
    __device__ __noinline__ float area() const override
    {
        return side * side;
    }
};
struct circle : shape {
    float radius;
    __device__ circle(float r) : radius(r) {}
    __device__ __noinline__ float area() const override
    {
        return 3.0f * radius * radius;
    }
};

__global__ void virtuals(float *out)
{
    square s(threadIdx.x);
    circle c(threadIdx.x);
    const shape *which = threadIdx.x & 1 ? (const shape *)&c : (const shape *)&s;
    out[threadIdx.x] = which->area();
}

/* An array that is indexed dynamically lives in .local memory. */
__global__ void locals(int *out, int shift)
{
    int values[16];
    for (int i = 0; i < 16; i++)
        values[i] = i * i + threadIdx.x;
    int sum = 0;
    for (int i = 0; i < 16; i++)
        sum += values[(i * shift + threadIdx.x) & 15] * i;
    out[threadIdx.x] = sum;
}

/* A lane that holds the lock and lanes that wait for it share a warp. */
__global__ void spin_lock(int *lock, int *counter)
{
    for (int i = 0; i < 3; i++) {
        while (atomicCAS(lock, 0, 1) != 0)
            ;
        __threadfence();
        *(volatile int *)counter = *(volatile int *)counter + 1;
        __threadfence();
        atomicExch(lock, 0);
    }
}

/* Block 0 waits for all the others: they must be let in beside it. */
__global__ void wait_for_others(int *ready, int *out)
{
    if (blockIdx.x == 0 && threadIdx.x == 0) {
        while (*(volatile int *)ready < (int)gridDim.x - 1)
            ;
        *out = 42;
    }
    if (blockIdx.x != 0 && threadIdx.x == 0)
        atomicAdd(ready, 1);
}

__global__ void print(int n)
{
    if (threadIdx.x < 2)
        printf("thread %d of %s: %5.2f %c %llx %%\n", threadIdx.x, "many", n * 1.5, 'x',
               0x123456789abcull);
}

__global__ void fails(int *data, int n)
{
    assert(data[threadIdx.x] < n);
}

__global__ void trapped(int n)
{
    if (threadIdx.x == n)
        __trap();
}

__global__ void votes(unsigned *out)
{
    int i = threadIdx.x;
    out[i] = __ballot_sync(0xffffffffu, i % 3 == 0);
    out[i + 32] = __any_sync(0xffffffffu, i == 5) | __all_sync(0xffffffffu, i < 32) << 1 |
                  __all_sync(0xffffffffu, i < 31) << 2;
    out[i + 64] = __match_any_sync(0xffffffffu, i / 5);
    int equal;
    out[i + 96] = __match_all_sync(0xffffffffu, 7, &equal) + equal;
    out[i + 128] = __reduce_add_sync(0xffffffffu, i) + __reduce_max_sync(0xffffffffu, i);
    unsigned quarter = 0xffu << (i / 8 * 8);
    out[i + 160] = __shfl_sync(quarter, i * 10, i / 8 * 8 + 3);
}

/* Lanes that went different ways meet again at one shuffle each. */
__global__ void diverged_shuffle(int *out)
{
    int i = threadIdx.x, value;
    if (i & 1)
        value = __shfl_xor_sync(0xffffffffu, i * 2, 1);
    else
        value = __shfl_xor_sync(0xffffffffu, i * 3, 1);
    out[i] = value;
}

__constant__ int table[8] = {3, 1, 4, 1, 5, 9, 2, 6};
__device__ int counter;
__device__ int *into = &counter;

__global__ void variables(int *out)
{
    out[threadIdx.x] = table[threadIdx.x % 8];
    atomicAdd(into, table[threadIdx.x % 8]);
    __syncthreads();
    if (threadIdx.x == 0)
        out[blockDim.x] = counter;
}

extern __shared__ double dynamic[];
__global__ void dynamic_shared(double *out)
{
    dynamic[threadIdx.x] = threadIdx.x * 0.5;
    __syncthreads();
    out[threadIdx.x] = dynamic[blockDim.x - 1 - threadIdx.x];
}

struct big {
    int values[40];
    double scale;
};
__device__ __noinline__ double dot(big a, big b)
{
    double sum = 0;
    for (int i = 0; i < 40; i++)
        sum += a.values[i] * b.values[i];
    return sum * a.scale + b.scale;
}
__global__ void by_value(double *out, big a, int index)
{
    big b = a;
    b.values[index] = threadIdx.x;
    out[threadIdx.x] = dot(a, b) + a.values[(threadIdx.x + index) % 40];
}

__global__ void early_exit(int *out)
{
    __shared__ int sum;
    if (threadIdx.x == 0)
        sum = 0;
    __syncthreads();
    if (threadIdx.x % 3 == 0)
        return;
    atomicAdd(&sum, 1);
    __syncthreads();
    out[threadIdx.x] = sum;
}

__global__ void out_of_bounds(int *data, long long index)
{
    data[index + threadIdx.x] = 1;
}
