// verdict: none
// options: trace=0
// reject: [1-9][0-9]* (bounded|unknown)|direction| traced
// Pointer, offset and length travel in a struct by value.
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
    for (int c = 0; c < 4; c++)
        clear<<<2, 64, 0, nonblocking_stream()>>>(part{c * N / 4, N / 4, p});
    CHECK(cudaGetLastError());
    return finish();
}
