// verdict: race
// gpu: race
// A 32-bit and a 64-bit atomic on the same bytes are not atomic to each other.
#include "program.h"

__global__ void count32(unsigned *p)
{
    atomicAdd(p, 1u);
}
__global__ void count64(unsigned long long *p)
{
    atomicAdd(p, 1ull);
}

int main()
{
    unsigned long long *p = device_array<unsigned long long>(1);
    CHECK(cudaMemset(p, 0, sizeof *p));
    CHECK(cudaDeviceSynchronize());
    cudaStream_t a = nonblocking_stream(), b = nonblocking_stream();
    count32<<<1, 32, 0, a>>>((unsigned *)p);
    count64<<<1, 32, 0, b>>>(p);
    CHECK(cudaGetLastError());
    return finish();
}
