// verdict: race
// gpu: any
// flags: -rdc=true
// Another stream of the host reads what a kernel's set writes.
#include "device_launch.h"

__global__ void parent(int *p)
{
    cudaMemsetAsync(p, 1, N * sizeof(int), 0);
}

int main()
{
    int *p = device_array<int>(), *q = device_array<int>();
    cudaStream_t a = nonblocking_stream(), b = nonblocking_stream();
    parent<<<1, 1, 0, a>>>(p);
    twice<<<GRID, BLOCK, 0, b>>>(p, q, N);
    CHECK(cudaGetLastError());
    return finish();
}
