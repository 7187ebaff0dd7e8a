// verdict: possible
// options: trace=0
// expect: which bytes it touches depends on data in memory
// Two streams scatter through index arrays. The indices are disjoint, but no PTX says so: csan must
// say that the launches may meet, and must not say that they do.
#include "program.h"

__global__ void scatter(int *out, const int *to, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[to[i]] = i;
}

int main()
{
    int *p = device_array<int>(), *low = device_array<int>(), *high = device_array<int>();
    launch_fill(0, low, 0, N / 2);
    launch_fill(0, high, N / 2, N / 2);
    CHECK(cudaDeviceSynchronize());
    scatter<<<4, 128, 0, nonblocking_stream()>>>(p, low, N / 2);
    scatter<<<4, 128, 0, nonblocking_stream()>>>(p, high, N / 2);
    CHECK(cudaGetLastError());
    return finish();
}
