// verdict: none
// options: trace=0
// reject: [1-9][0-9]* (bounded|unknown)|direction| traced
// Loops in loops, as compilers leave them and unrolled: two streams, some columns of one matrix
// each. No trace distinguishes them.
#include "program.h"

enum { PITCH = 64, ROWS = 5, LEFT = 37, RIGHT = PITCH - LEFT };

__global__ void from_zero(int *a, int width, int height)
{
    for (int r = 0; r < height; r++)
        for (int c = 0; c < width; c++)
            a[r * PITCH + c] = c;
}

__global__ void from_zero_rolled(int *a, int width, int height)
{
#pragma unroll 1
    for (int r = 0; r < height; r++)
#pragma unroll 1
        for (int c = 0; c < width; c++)
            a[r * PITCH + c] = c;
}

__global__ void from_thread(int *a, int width, int height)
{
#pragma unroll 1
    for (int r = 0; r < height; r++)
#pragma unroll 1
        for (int c = threadIdx.x; c < width; c++)
            a[r * PITCH + c] = c;
}

__global__ void block_stride(int *a, int width, int height)
{
    for (int r = 0; r < height; r++)
        for (int c = threadIdx.x; c < width; c += blockDim.x)
            a[r * PITCH + c] = c;
}

__global__ void rows_of_blocks(int *a, int width, int height)
{
    for (int r = blockIdx.x; r < height; r += gridDim.x)
        for (int c = threadIdx.x; c < width; c += blockDim.x)
            a[r * PITCH + c] = c;
}

typedef void columns_fill(int *, int, int);

static void fill_both(columns_fill *fill, int blocks)
{
    int *a = device_array<int>(PITCH * ROWS);
    fill<<<blocks, 16, 0, nonblocking_stream()>>>(a, LEFT, ROWS);
    fill<<<blocks, 16, 0, nonblocking_stream()>>>(a + LEFT, RIGHT, ROWS);
    CHECK(cudaGetLastError());
}

int main()
{
    fill_both(from_zero, 1);
    fill_both(from_zero_rolled, 1);
    fill_both(from_thread, 1);
    fill_both(block_stride, 1);
    fill_both(rows_of_blocks, 2);
    return finish();
}
