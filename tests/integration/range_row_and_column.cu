// verdict: race
// options: trace=0
// gpu: race
// expect: Overlap: 4 bytes, 1828 to 1831 of the 4096
// expect: , 1 race, 0 possible races
// One stream writes row 14 of a matrix, another column 9: they meet in one element, 14 * 32 + 9.
#include "program.h"

enum { SIDE = 32 };

__global__ void fill_row(int *p, int row, int columns)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < columns)
        p[row * columns + i] = i;
}

__global__ void fill_column(int *p, int column, int columns, int rows)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < rows)
        p[i * columns + column] = i;
}

int main()
{
    int *p = device_array<int>();
    fill_row<<<2, 24, 0, nonblocking_stream()>>>(p, 14, SIDE);
    fill_column<<<2, 24, 0, nonblocking_stream()>>>(p, 9, SIDE, SIDE);
    CHECK(cudaGetLastError());
    return finish();
}
