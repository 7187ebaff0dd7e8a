// verdict: possible
// options: trace=0
// Whether an element is written depends on data: two streams write two sets of elements that the
// data keeps apart, which no PTX says.
#include "program.h"

__global__ void fill_where(int *out, const int *flags, int wanted, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n && flags[i] % 2 == wanted)
        out[i] = i;
}

int main()
{
    int *p = device_array<int>(), *flags = device_array<int>();
    launch_fill(0, flags);
    CHECK(cudaDeviceSynchronize());
    fill_where<<<GRID, BLOCK, 0, nonblocking_stream()>>>(p, flags, 0, N);
    fill_where<<<GRID, BLOCK, 0, nonblocking_stream()>>>(p, flags, 1, N);
    CHECK(cudaGetLastError());
    return finish();
}
