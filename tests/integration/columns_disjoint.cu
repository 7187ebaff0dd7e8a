// verdict: none
// Even columns in one stream, odd columns in another.
#include "program.h"

__global__ void fill_column(int *p, int column, int pitch, int rows)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < rows)
        p[i * pitch + column] = i;
}

int main()
{
    int *p = device_array<int>();
    cudaStream_t streams[2] = {nonblocking_stream(), nonblocking_stream()};
    for (int column = 0; column < 8; column++)
        fill_column<<<1, 128, 0, streams[column % 2]>>>(p, column, 8, N / 8);
    CHECK(cudaGetLastError());
    return finish();
}
