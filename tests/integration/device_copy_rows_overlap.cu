// verdict: race
// gpu: any
// flags: -rdc=true
// Rows that a kernel copies and sets, in two streams of its own, overlap in one column.
#include "device_launch.h"

enum { SIDE = 32, HALF = SIDE / 2 };

__global__ void parent(int *p, int *q)
{
    cudaStream_t a, b;
    const size_t pitch = SIDE * sizeof(int), half = HALF * sizeof(int);
    cudaStreamCreateWithFlags(&a, cudaStreamNonBlocking);
    cudaStreamCreateWithFlags(&b, cudaStreamNonBlocking);
    cudaMemcpy2DAsync(q, pitch, p, pitch, half, SIDE, cudaMemcpyDeviceToDevice, a);
    cudaMemset2DAsync(q + HALF - 1, pitch, 1, half, SIDE, b);
}

int main()
{
    int *p = device_array<int>(), *q = device_array<int>();
    launch_fill(nullptr, p, 5);
    parent<<<1, 1>>>(p, q);
    CHECK(cudaGetLastError());
    return finish();
}
