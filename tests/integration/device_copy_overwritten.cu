// verdict: race
// gpu: any
// flags: -rdc=true
// expect: data race
// expect: cudaMemcpyAsync
// A kernel writes what a copy reads that it enqueued before.
#include "device_launch.h"

__global__ void parent(int *p, int *q)
{
    cudaMemcpyAsync(q, p, N * sizeof(int), cudaMemcpyDeviceToDevice, 0);
    p[7] = 1;
}

int main()
{
    int *p = device_array<int>(), *q = device_array<int>();
    parent<<<1, 1>>>(p, q);
    CHECK(cudaGetLastError());
    return finish();
}
