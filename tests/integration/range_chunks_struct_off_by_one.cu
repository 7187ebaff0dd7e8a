// verdict: race
// options: trace=0
// gpu: race
// expect: Overlap: 4 bytes, 2048 to 2051 of the 4096
// expect: , 1 race, 0 possible races
// As range_chunks_struct, the second quarter one element too long.
#include "program.h"

struct part {
    int first, count;
    int *data;
};

__global__ void fill_part(part own)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < own.count; i += gridDim.x * blockDim.x)
        own.data[own.first + i] = i;
}

int main()
{
    int *p = device_array<int>();
    for (int i = 0; i < 4; i++)
        fill_part<<<2, 48, 0, nonblocking_stream()>>>({i * N / 4, N / 4 + (i == 1), p});
    CHECK(cudaGetLastError());
    return finish();
}
