// verdict: race
// options: trace=0
// gpu: race
// expect: Overlap: 8 bytes, 4440 to 4447 of the 8000
// expect: , 1 race, 0 possible races
// As range_boxes with the two boxes that meet in nothing but a corner, one of them one cell too
// large: the cell 5 * 100 + 5 * 10 + 5.
#include "program.h"

enum { SIDE = 10, HALF = SIDE / 2 };

__global__ void fill_box(double *cube, int3 sizes, int3 corner, int3 box)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    int z = blockIdx.z * blockDim.z + threadIdx.z;
    if (x < box.x && y < box.y && z < box.z)
        cube[((corner.z + z) * sizes.y + corner.y + y) * sizes.x + corner.x + x] = x;
}

int main()
{
    double *cube = device_array<double>(SIDE * SIDE * SIDE);
    int3 sizes = make_int3(SIDE, SIDE, SIDE), half = make_int3(HALF, HALF, HALF);
    fill_box<<<dim3(2, 2, 3), dim3(4, 4, 2), 0, nonblocking_stream()>>>(
        cube, sizes, make_int3(0, 0, 0), make_int3(HALF + 1, HALF + 1, HALF + 1));
    fill_box<<<dim3(2, 2, 3), dim3(4, 4, 2), 0, nonblocking_stream()>>>(cube, sizes, half, half);
    CHECK(cudaGetLastError());
    return finish();
}
