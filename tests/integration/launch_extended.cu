// verdict: race
// cudaLaunchKernelExC, with an attribute.
#include "program.h"

int main()
{
    int *p = device_array<int>();
    cudaStream_t a = nonblocking_stream(), b = nonblocking_stream();
    int n = N;
    void *parameters[] = {&p, &n};
    cudaLaunchAttribute attribute = {};
    attribute.id = cudaLaunchAttributePriority;
    attribute.val.priority = 0;
    cudaLaunchConfig_t config = {};
    config.gridDim = dim3(GRID);
    config.blockDim = dim3(BLOCK);
    config.stream = a;
    config.attrs = &attribute;
    config.numAttrs = 1;
    CHECK(cudaLaunchKernelExC(&config, (const void *)increment, parameters));
    launch_fill(b, p);
    return finish();
}
