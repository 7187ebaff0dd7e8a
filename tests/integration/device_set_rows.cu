// verdict: none
// flags: -rdc=true
// Rows that a kernel sets beside those that another stream of it copies. What the set leaves is not
// looked at: on an H100 such a set returns without an error and sets nothing (driver 580,
// CUDA 13.0).
#include "device_launch.h"

enum { SIDE = 32, HALF = SIDE / 2 };

__global__ void parent(int *p, int *q)
{
    cudaStream_t a, b;
    const size_t pitch = SIDE * sizeof(int), half = HALF * sizeof(int);
    cudaStreamCreateWithFlags(&a, cudaStreamNonBlocking);
    cudaStreamCreateWithFlags(&b, cudaStreamNonBlocking);
    cudaMemcpy2DAsync(q, pitch, p, pitch, half, SIDE, cudaMemcpyDeviceToDevice, a);
    cudaMemset2DAsync(q + HALF, pitch, 1, half, SIDE, b);
}

int main()
{
    int *p = device_array<int>(), *q = device_array<int>();
    launch_fill(nullptr, p, 5);
    parent<<<1, 1>>>(p, q);
    CHECK(cudaGetLastError());
    CHECK(cudaDeviceSynchronize());
    return finish();
}
