// verdict: none
// options: trace=0
// Eight streams, an eighth of one cube each: boxes lie in planes, rows and columns between others.
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
    for (int i = 0; i < 8; i++)
        fill_box<<<dim3(2, 2, 3), dim3(4, 4, 2), 0, nonblocking_stream()>>>(
            cube, make_int3(SIDE, SIDE, SIDE),
            make_int3(i % 2 * HALF, i / 2 % 2 * HALF, i / 4 * HALF), make_int3(HALF, HALF, HALF));
    CHECK(cudaGetLastError());
    return finish();
}
