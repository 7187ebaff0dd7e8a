// verdict: none
// flags: -rdc=true
// Rows that a kernel copies, in two streams of its own: the columns between them belong to others.
#include "device_launch.h"

enum { SIDE = 32, HALF = SIDE / 2 };

__device__ void check(cudaError_t result)
{
    if (result)
        printf("a call of the kernel returned %d\n", (int)result);
}

__global__ void parent(const int *p, const int *ones, int *q)
{
    cudaStream_t a, b;
    const size_t pitch = SIDE * sizeof(int), half = HALF * sizeof(int);
    cudaStreamCreateWithFlags(&a, cudaStreamNonBlocking);
    cudaStreamCreateWithFlags(&b, cudaStreamNonBlocking);
    check(cudaMemcpy2DAsync(q, pitch, p, pitch, half, SIDE, cudaMemcpyDeviceToDevice, a));
    check(cudaMemcpy2DAsync(q + HALF, pitch, ones, pitch, half, SIDE, cudaMemcpyDeviceToDevice, b));
}

int main()
{
    int *p = device_array<int>(), *ones = device_array<int>(), *q = device_array<int>();
    static int got[SIDE * SIDE];
    launch_fill(nullptr, p, 5);
    CHECK(cudaMemset(ones, 1, SIDE * SIDE * sizeof(int)));
    parent<<<1, 1>>>(p, ones, q);
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpy(got, q, sizeof got, cudaMemcpyDeviceToHost));
    for (int i = 0; i < SIDE * SIDE; i++)
        if (got[i] != (i % SIDE < HALF ? 5 + i : 0x01010101))
            printf("%d: %d\n", i, got[i]);
    return finish();
}
