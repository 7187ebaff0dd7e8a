// verdict: none
// options: trace=0
// Three streams, some columns of one matrix each; each scales and then sums its own columns.
#include "program.h"

enum { COLUMNS = 60, ROWS = 17 };

__global__ void scale_columns(float *a, int rows, int columns, int first, int count)
{
    for (int row = blockIdx.y; row < rows; row += gridDim.y) {
        int column = blockIdx.x * blockDim.x + threadIdx.x;
        if (column < count)
            a[row * columns + first + column] *= 2;
    }
}

__global__ void sum_columns(float *sums, const float *a, int rows, int columns, int first,
                            int count)
{
    int column = first + blockIdx.x * blockDim.x + threadIdx.x;
    if (column >= first + count)
        return;
    float sum = 0;
    for (int row = 0; row < rows; row++)
        sum += a[row * columns + column];
    sums[column] = sum;
}

int main()
{
    float *a = device_array<float>(ROWS * COLUMNS), *sums = device_array<float>(COLUMNS);
    CHECK(cudaMemset(a, 0, ROWS * COLUMNS * sizeof(float)));
    CHECK(cudaDeviceSynchronize());
    for (int first = 0; first < COLUMNS; first += 20) {
        cudaStream_t stream = nonblocking_stream();
        scale_columns<<<dim3(2, 5), 16, 0, stream>>>(a, ROWS, COLUMNS, first, 20);
        sum_columns<<<1, 32, 0, stream>>>(sums, a, ROWS, COLUMNS, first, 20);
    }
    CHECK(cudaGetLastError());
    return finish();
}
