// verdict: race
// options: trace=0
// gpu: race
// expect: Overlap: 1 byte, 39 to 39 of the 3072 .*the first run
// expect: , 1 race, 0 possible races
// As range_copy_beside, the kernel's rectangle one column too far left.
#include "program.h"

enum { PITCH = 128, WIDTH = 40, ROWS = 24 }; // bytes, but rows

__global__ void fill_rectangle(unsigned char *image, size_t pitch, int width, int height)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < width && y < height) {
        unsigned char *row = image + y * pitch;
        row[x] = x;
    }
}

int main()
{
    unsigned char *image = device_array<unsigned char>(PITCH * ROWS), *host;
    CHECK(cudaMallocHost((void **)&host, WIDTH * ROWS));
    memset(host, 0, WIDTH * ROWS);
    CHECK(cudaMemcpy2DAsync(image, PITCH, host, WIDTH, WIDTH, ROWS, cudaMemcpyHostToDevice,
                            nonblocking_stream()));
    fill_rectangle<<<dim3(2, 4), dim3(32, 8), 0, nonblocking_stream()>>>(image + WIDTH - 1, PITCH,
                                                                         WIDTH, ROWS);
    CHECK(cudaGetLastError());
    return finish();
}
