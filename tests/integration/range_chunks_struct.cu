// verdict: none
// options: trace=0
// Four streams, a quarter of one array each: pointer, start and length travel in a struct.
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
        fill_part<<<2, 48, 0, nonblocking_stream()>>>({i * N / 4, N / 4, p});
    CHECK(cudaGetLastError());
    return finish();
}
