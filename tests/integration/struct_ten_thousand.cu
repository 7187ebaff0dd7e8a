// verdict: race
// The pointer is the last of a struct passed by value: 10,000 bytes, past the old limit of 4,096.
#include "program.h"

struct large {
    long filler[1249];
    int *data;
};

__global__ void clear(large v)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    v.data[i] = (int)v.filler[i % 1249];
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
