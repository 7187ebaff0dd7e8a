// verdict: none
// Two streams copy different columns of one matrix: the rows interleave, the bytes do not meet.
#include "program.h"

enum { ROWS = 32, PITCH = 256, WIDTH = 64 };

int main()
{
    char *host, *p = device_array<char>(ROWS * PITCH);
    CHECK(cudaMallocHost((void **)&host, 2 * ROWS * WIDTH));
    memset(host, 0, 2 * ROWS * WIDTH);
    cudaStream_t a = nonblocking_stream(), b = nonblocking_stream();
    CHECK(cudaMemcpy2DAsync(p, PITCH, host, WIDTH, WIDTH, ROWS, cudaMemcpyHostToDevice, a));
    CHECK(cudaMemcpy2DAsync(p + WIDTH, PITCH, host + ROWS * WIDTH, WIDTH, WIDTH, ROWS,
                            cudaMemcpyHostToDevice, b));
    return finish();
}
