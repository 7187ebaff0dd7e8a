// verdict: none
// options: trace=0
// Two streams scatter into arrays of their own and gather from a common one: wherever the indices
// lead, it is not out of the allocation.
#include "program.h"

__global__ void permute(int *out, const int *in, const int *to, const int *from, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[to[i]] = in[from[i]];
}

int main()
{
    int *in = device_array<int>(), *indices = device_array<int>();
    launch_fill(0, in);
    launch_fill(0, indices, 0);
    CHECK(cudaDeviceSynchronize());
    for (int i = 0; i < 3; i++)
        permute<<<GRID, BLOCK, 0, nonblocking_stream()>>>(device_array<int>(), in, indices, indices,
                                                          N);
    CHECK(cudaGetLastError());
    return finish();
}
