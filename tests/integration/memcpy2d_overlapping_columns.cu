// verdict: race
// gpu: race
// As memcpy2d_disjoint_columns, one column too wide.
#include "program.h"

enum { ROWS = 32, PITCH = 256, WIDTH = 64 };

int main()
{
    char *host, *p = device_array<char>(ROWS * PITCH);
    CHECK(cudaMallocHost((void **)&host, 2 * ROWS * WIDTH));
    memset(host, 0, 2 * ROWS * WIDTH);
    cudaStream_t a = nonblocking_stream(), b = nonblocking_stream();
    CHECK(cudaMemcpy2DAsync(p, PITCH, host, WIDTH, WIDTH, ROWS, cudaMemcpyHostToDevice, a));
    CHECK(cudaMemcpy2DAsync(p + WIDTH - 1, PITCH, host + ROWS * WIDTH, WIDTH, WIDTH, ROWS,
                            cudaMemcpyHostToDevice, b));
    return finish();
}
