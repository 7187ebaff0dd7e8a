// verdict: race
// options: trace=0
// gpu: race
// expect: Overlap: 4 bytes, 64 to 67 of the 4096 .*the first run
// expect: , 1 race, 0 possible races
// As range_tiles_disjoint, one tile one column too wide.
#include "program.h"

enum { SIDE = 32 };

__global__ void fill_tile(int *matrix, int pitch, int x0, int y0, int width, int height)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < width && y < height)
        matrix[(y0 + y) * pitch + x0 + x] = x + y;
}

int main()
{
    int *p = device_array<int>(), half = SIDE / 2;
    for (int tile = 0; tile < 4; tile++)
        fill_tile<<<dim3(3, 3), dim3(8, 8), 0, nonblocking_stream()>>>(
            p, SIDE, tile % 2 * half, tile / 2 * half, half + (tile == 0), half);
    CHECK(cudaGetLastError());
    return finish();
}
