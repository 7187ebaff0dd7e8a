// verdict: race
// An atomic update does not protect against a plain write.
#include "program.h"

__global__ void count(int *p)
{
    atomicAdd(&p[threadIdx.x % 8], 1);
}

int main()
{
    int *p = device_array<int>();
    CHECK(cudaMemset(p, 0, BYTES));
    CHECK(cudaDeviceSynchronize());
    cudaStream_t a = nonblocking_stream(), b = nonblocking_stream();
    count<<<GRID, BLOCK, 0, a>>>(p);
    launch_fill(b, p);
    CHECK(cudaGetLastError());
    return finish();
}
