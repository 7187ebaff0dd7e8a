// verdict: none
// Kernels run and compute: tiles in shared memory, barriers, a loop.
#include "program.h"

enum { SIZE = 48, TILE = 16 };

__global__ void matmul(float *c, const float *a, const float *b)
{
    __shared__ float left[TILE][TILE], right[TILE][TILE];
    int row = blockIdx.y * TILE + threadIdx.y, column = blockIdx.x * TILE + threadIdx.x;
    float sum = 0;
    for (int k = 0; k < SIZE; k += TILE) {
        left[threadIdx.y][threadIdx.x] = a[row * SIZE + k + threadIdx.x];
        right[threadIdx.y][threadIdx.x] = b[(k + threadIdx.y) * SIZE + column];
        __syncthreads();
        for (int i = 0; i < TILE; i++)
            sum += left[threadIdx.y][i] * right[i][threadIdx.x];
        __syncthreads();
    }
    c[row * SIZE + column] = sum;
}

int main()
{
    static float a[SIZE][SIZE], b[SIZE][SIZE], c[SIZE][SIZE];
    for (int i = 0; i < SIZE; i++)
        for (int j = 0; j < SIZE; j++) {
            a[i][j] = (float)(i - j);
            b[i][j] = (float)(i + 2 * j);
        }
    float *da = device_array<float>(SIZE * SIZE), *db = device_array<float>(SIZE * SIZE),
          *dc = device_array<float>(SIZE * SIZE);
    CHECK(cudaMemcpy(da, a, sizeof a, cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(db, b, sizeof b, cudaMemcpyHostToDevice));
    matmul<<<dim3(SIZE / TILE, SIZE / TILE), dim3(TILE, TILE)>>>(dc, da, db);
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpy(c, dc, sizeof c, cudaMemcpyDeviceToHost));
    for (int i = 0; i < SIZE; i++)
        for (int j = 0; j < SIZE; j++) {
            float expected = 0;
            for (int k = 0; k < SIZE; k++)
                expected += a[i][k] * b[k][j];
            if (c[i][j] != expected) {
                printf("wrong at %d %d: %g, expected %g\n", i, j, c[i][j], expected);
                return 1;
            }
        }
    return finish();
}
