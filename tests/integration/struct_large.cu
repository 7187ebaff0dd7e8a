// verdict: race
// The pointer is the last of a struct that fills the whole parameter space (4,096 bytes).
#include "program.h"

struct large {
    long filler[500];
    int *data;
};

__global__ void clear(large v)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    v.data[i] = (int)v.filler[i % 500];
}

int main()
{
    static large v;
    v.data = device_array<int>();
    cudaStream_t a = nonblocking_stream(), b = nonblocking_stream();
    clear<<<GRID, BLOCK, 0, a>>>(v);
    clear<<<GRID, BLOCK, 0, b>>>(v);
    CHECK(cudaGetLastError());
    return finish();
}
