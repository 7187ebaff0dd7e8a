// verdict: race
// gpu: race
// options: trace=0
// expect: Overlap: 4 bytes, 2048 to 2051 of the 4096
// expect: , 1 race, 0 possible races
// Two halves in structs by value; the first is one element too long.
#include "program.h"

struct part {
    int first, count;
    int *data;
};

__global__ void clear(part p)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < p.count; i += gridDim.x * blockDim.x)
        p.data[p.first + i] = 0;
}

int main()
{
    int *p = device_array<int>();
    clear<<<2, 64, 0, nonblocking_stream()>>>(part{0, N / 2 + 1, p});
    clear<<<2, 64, 0, nonblocking_stream()>>>(part{N / 2, N / 2, p});
    CHECK(cudaGetLastError());
    return finish();
}
