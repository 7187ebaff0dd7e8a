// verdict: none
// flags: -arch=sm_80
// Products of tiles on the tensor cores, by warps of large grids in shared and global memory.
#include "program.h"
#include <cuda_fp16.h>
#include <mma.h>

using namespace nvcuda;

enum { SIZE = 192, TILE = 16 };

__global__ void product(float *c, const half *a, const half *b)
{
    __shared__ half tile_a[TILE * TILE], tile_b[TILE * TILE];
    int row = blockIdx.y * TILE, column = blockIdx.x * TILE;
    wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> fa;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::row_major> fb;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum;
    wmma::fill_fragment(sum, 0.0f);
    for (int k = 0; k < SIZE; k += TILE) {
        for (int i = threadIdx.x; i < TILE * TILE; i += 32) {
            tile_a[i] = a[(row + i / TILE) * SIZE + k + i % TILE];
            tile_b[i] = b[(k + i / TILE) * SIZE + column + i % TILE];
        }
        __syncthreads();
        wmma::load_matrix_sync(fa, tile_a, TILE);
        wmma::load_matrix_sync(fb, tile_b, TILE);
        wmma::mma_sync(sum, fa, fb, sum);
        __syncthreads();
    }
    wmma::store_matrix_sync(c + row * SIZE + column, sum, SIZE, wmma::mem_row_major);
}

__global__ void in_place(float *c, const half *a, const half *b)
{
    wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> fa;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::row_major> fb;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum;
    float *tile = c + blockIdx.y * TILE * SIZE + blockIdx.x * TILE;
    wmma::load_matrix_sync(sum, tile, SIZE, wmma::mem_row_major);
    for (int k = 0; k < SIZE; k += TILE) {
        wmma::load_matrix_sync(fa, a + blockIdx.y * TILE * SIZE + k, SIZE);
        wmma::load_matrix_sync(fb, b + k * SIZE + blockIdx.x * TILE, SIZE);
        wmma::mma_sync(sum, fa, fb, sum);
    }
    wmma::store_matrix_sync(tile, sum, SIZE, wmma::mem_row_major);
}

static half a[SIZE][SIZE], b[SIZE][SIZE];
static float c[SIZE][SIZE];

int main()
{
    half *da = device_array<half>(SIZE * SIZE), *db = device_array<half>(SIZE * SIZE);
    float *dc = device_array<float>(SIZE * SIZE);
    for (int i = 0; i < SIZE; i++)
        for (int k = 0; k < SIZE; k++) {
            a[i][k] = __float2half((i * 7 + k * 3) % 11 - 5);
            b[i][k] = __float2half((i * 5 + k) % 7 - 3);
        }
    CHECK(cudaMemcpy(da, a, sizeof a, cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(db, b, sizeof b, cudaMemcpyHostToDevice));
    dim3 grid(SIZE / TILE, SIZE / TILE);
    product<<<grid, 32>>>(dc, da, db);
    in_place<<<grid, 32>>>(dc, da, db);
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpy(c, dc, sizeof c, cudaMemcpyDeviceToHost));
    for (int i = 0; i < SIZE; i++)
        for (int j = 0; j < SIZE; j++) {
            float expected = 0;
            for (int k = 0; k < SIZE; k++)
                expected += 2 * __half2float(a[i][k]) * __half2float(b[k][j]);
            if (c[i][j] != expected) {
                printf("wrong: (%d, %d) is %g, expected %g\n", i, j, c[i][j], expected);
                return 1;
            }
        }
    return finish();
}
