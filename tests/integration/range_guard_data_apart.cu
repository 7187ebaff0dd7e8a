// verdict: none
// options: trace=0
// Whether an element is written depends on data, but only elements of the stream's own half are.
#include "program.h"

__global__ void fill_where(int *out, const int *flags, int first, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n && flags[first + i] > 5)
        out[first + i] = i;
}

int main()
{
    int *p = device_array<int>(), *flags = device_array<int>();
    launch_fill(0, flags);
    CHECK(cudaDeviceSynchronize());
    fill_where<<<4, 128, 0, nonblocking_stream()>>>(p, flags, 0, N / 2);
    fill_where<<<4, 128, 0, nonblocking_stream()>>>(p, flags, N / 2, N / 2);
    CHECK(cudaGetLastError());
    return finish();
}
