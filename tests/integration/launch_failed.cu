// verdict: none
// A launch that the driver refused touched nothing; neither did a refused copy or set.
#include "program.h"

int main()
{
    int *p = device_array<int>();
    cudaStream_t a = nonblocking_stream(), b = nonblocking_stream();
    fill<<<GRID, 4096, 0, a>>>(p, 1, N); // no device has blocks of 4,096 threads
    cudaError_t launch = cudaGetLastError();
    cudaError_t copy = cudaMemcpyAsync(p, p, BYTES, (cudaMemcpyKind)77, a);
    cudaGetLastError();
    if (launch == cudaSuccess || copy == cudaSuccess)
        printf("not refused: %d %d\n", (int)launch, (int)copy);
    launch_fill(b, p);
    return finish();
}
