// verdict: race
// options: trace=0
// gpu: race
// expect: Overlap: 84 bytes, 840 to 923 of the 2436
// expect: , 1 race, 0 possible races
// Two products on two streams without an event: the first writes rows 0 to 10 of a matrix, the
// second reads its rows from 10 on.
#include "program.h"

enum { COLUMNS = 21 };

__global__ void gemm(float *c, const float *a, const float *b, int m, int n, int k)
{
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    int column = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= m || column >= n)
        return;
    float sum = 0;
    for (int i = 0; i < k; i++)
        sum += a[row * k + i] * b[i * n + column];
    c[row * n + column] = sum;
}

int main()
{
    float *a = device_array<float>(29 * 13), *b = device_array<float>(13 * COLUMNS);
    float *c = device_array<float>(29 * COLUMNS), *d = device_array<float>(COLUMNS * 5);
    float *e = device_array<float>(29 * 5);
    gemm<<<dim3(3, 2), dim3(8, 8), 0, nonblocking_stream()>>>(c, a, b, 11, COLUMNS, 13);
    gemm<<<dim3(1, 3), dim3(8, 8), 0, nonblocking_stream()>>>(e, c + 10 * COLUMNS, d, 19, 5,
                                                              COLUMNS);
    CHECK(cudaGetLastError());
    return finish();
}
