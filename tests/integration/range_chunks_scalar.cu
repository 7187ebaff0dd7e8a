// verdict: none
// options: trace=0
// Four streams, a quarter of one array each: where a quarter starts is a scalar argument.
#include "program.h"

__global__ void fill_part(int *p, int first, int count)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count)
        p[first + i] = i;
}

int main()
{
    int *p = device_array<int>();
    for (int part = 0; part < 4; part++)
        fill_part<<<3, 100, 0, nonblocking_stream()>>>(p, part * N / 4, N / 4);
    CHECK(cudaGetLastError());
    return finish();
}
