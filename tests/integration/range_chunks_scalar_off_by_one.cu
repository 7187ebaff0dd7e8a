// verdict: race
// options: trace=0
// gpu: race
// expect: Overlap: 4 bytes, 1024 to 1027 of the 4096
// expect: , 1 race, 0 possible races
// As range_chunks_scalar, the first quarter one element too long.
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
        fill_part<<<3, 100, 0, nonblocking_stream()>>>(p, part * N / 4, N / 4 + (part == 0));
    CHECK(cudaGetLastError());
    return finish();
}
