// verdict: none
// Diverging branches, a switch, early returns, nested loops, recursion and function pointers, in
// a three-dimensional grid.
#include "program.h"

__device__ __noinline__ int fibonacci(int n)
{
    return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2);
}

__device__ int twice(int x)
{
    return 2 * x;
}
__device__ int thrice(int x)
{
    return 3 * x;
}
__device__ int (*const operations[2])(int) = {twice, thrice};

__host__ __device__ static int steps(int n)
{
    int count = 0;
    while (n != 1) {
        n = n % 2 ? 3 * n + 1 : n / 2;
        if (++count > 200)
            break;
    }
    return count;
}

__host__ __device__ static int choose(int i)
{
    switch (i % 7) {
    case 0:
        return 11;
    case 1:
        return i;
    case 2:
        return i * i;
    case 3:
        return -i;
    case 4:
        return i / 3;
    case 5:
        return i ^ 0x55;
    default:
        return 99;
    }
}

__global__ void flow(int *out, int n)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y,
        z = blockIdx.z * blockDim.z + threadIdx.z;
    int i = (z * gridDim.y * blockDim.y + y) * gridDim.x * blockDim.x + x;
    if (i >= n)
        return;
    int sum = choose(i);
    for (int a = 0; a < i % 4; a++)
        for (int b = a; b < i % 5; b++)
            sum += a * b;
    if (i % 3 == 1)
        sum += fibonacci(i % 8);
    sum += operations[i % 2](i);
    out[i] = sum + steps(i + 1);
}

int main()
{
    enum { COUNT = 380 };
    static int out[COUNT];
    int *p = device_array<int>(COUNT);
    flow<<<dim3(2, 3, 2), dim3(4, 4, 2)>>>(p, COUNT);
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpy(out, p, sizeof out, cudaMemcpyDeviceToHost));
    static const int fib[8] = {0, 1, 1, 2, 3, 5, 8, 13};
    for (int i = 0; i < COUNT; i++) {
        int sum = choose(i);
        for (int a = 0; a < i % 4; a++)
            for (int b = a; b < i % 5; b++)
                sum += a * b;
        sum += (i % 3 == 1 ? fib[i % 8] : 0) + (i % 2 ? 3 * i : 2 * i) + steps(i + 1);
        if (out[i] != sum)
            printf("wrong: %d is %d, expected %d\n", i, out[i], sum);
    }
    return finish();
}
