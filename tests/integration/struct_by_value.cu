// verdict: race
// The pointer travels inside a struct passed by value.
#include "program.h"

struct view {
    int rows, columns;
    int *data;
    int unused[3];
};

__global__ void clear(view v)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < v.rows * v.columns)
        v.data[i] = 0;
}

int main()
{
    view v = {32, 32, device_array<int>(), {}};
    cudaStream_t a = nonblocking_stream(), b = nonblocking_stream();
    clear<<<GRID, BLOCK, 0, a>>>(v);
    clear<<<GRID, BLOCK, 0, b>>>(v);
    CHECK(cudaGetLastError());
    return finish();
}
