// verdict: race
// expect: counter_add
// Two kernels update a __device__ variable that no parameter names.
#include "program.h"

__device__ int counter[4];

__global__ void counter_add(int n)
{
    counter[0] += n;
}

int main()
{
    cudaStream_t a = nonblocking_stream(), b = nonblocking_stream();
    counter_add<<<1, 1, 0, a>>>(1);
    counter_add<<<1, 1, 0, b>>>(2);
    CHECK(cudaGetLastError());
    return finish();
}
