// verdict: race
// A cooperative launch is a launch.
#include "program.h"

int main()
{
    int *p = device_array<int>();
    cudaStream_t a = nonblocking_stream(), b = nonblocking_stream();
    int n = N;
    void *parameters[] = {&p, &n};
    CHECK(
        cudaLaunchCooperativeKernel((void *)increment, dim3(GRID), dim3(BLOCK), parameters, 0, a));
    launch_fill(b, p);
    return finish();
}
