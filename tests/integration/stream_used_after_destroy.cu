// verdict: none
// gpu: any
// skip: gpu
// A destroyed stream is refused by the device, and csan follows.
#include "program.h"

int main()
{
    int *p = device_array<int>();
    cudaStream_t a = nonblocking_stream(), b = nonblocking_stream();
    CHECK(cudaStreamDestroy(a));
    fill<<<GRID, BLOCK, 0, a>>>(p, 1, N);
    if (cudaGetLastError() == cudaSuccess)
        printf("not refused\n");
    launch_fill(b, p);
    return finish();
}
