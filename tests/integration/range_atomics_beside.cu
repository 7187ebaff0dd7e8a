// verdict: none
// options: trace=0
// Atomic counters in the first elements of an array whose rest another stream writes plainly.
#include "program.h"

__global__ void count(int *counters, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        atomicAdd(&counters[i % 7], 1);
}

int main()
{
    int *p = device_array<int>();
    CHECK(cudaMemset(p, 0, BYTES));
    CHECK(cudaDeviceSynchronize());
    count<<<4, 64, 0, nonblocking_stream()>>>(p, 200);
    count<<<2, 64, 0, nonblocking_stream()>>>(p, 128);
    launch_fill(nonblocking_stream(), p + 7, 0, N - 7);
    CHECK(cudaGetLastError());
    return finish();
}
