// verdict: none
// options: trace=0
// One matrix product on three streams, some rows each, with tiles in shared memory; sizes that no
// tile divides.
#include "program.h"

enum { TILE = 8, M = 29, COLUMNS = 21, K = 13 };

__global__ void gemm(float *c, const float *a, const float *b, int m, int n, int k)
{
    __shared__ float left[TILE][TILE], right[TILE][TILE];
    int row = blockIdx.y * TILE + threadIdx.y, column = blockIdx.x * TILE + threadIdx.x;
    float sum = 0;
    for (int t = 0; t < (k + TILE - 1) / TILE; t++) {
        int across = t * TILE + threadIdx.x, down = t * TILE + threadIdx.y;
        left[threadIdx.y][threadIdx.x] = row < m && across < k ? a[row * k + across] : 0;
        right[threadIdx.y][threadIdx.x] = down < k && column < n ? b[down * n + column] : 0;
        __syncthreads();
        for (int i = 0; i < TILE; i++)
            sum += left[threadIdx.y][i] * right[i][threadIdx.x];
        __syncthreads();
    }
    if (row < m && column < n)
        c[row * n + column] = sum;
}

int main()
{
    float *a = device_array<float>(M * K), *b = device_array<float>(K * COLUMNS);
    float *c = device_array<float>(M * COLUMNS);
    CHECK(cudaMemset(a, 0, M * K * sizeof(float)));
    CHECK(cudaMemset(b, 0, K * COLUMNS * sizeof(float)));
    CHECK(cudaDeviceSynchronize());
    for (int first = 0; first < M; first += 10) {
        int rows = M - first < 10 ? M - first : 10;
        gemm<<<dim3(3, 2), dim3(TILE, TILE), 0, nonblocking_stream()>>>(
            c + first * COLUMNS, a + first * K, b, rows, COLUMNS, K);
    }
    CHECK(cudaGetLastError());
    return finish();
}
