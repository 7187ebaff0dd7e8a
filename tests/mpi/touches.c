/* The host reads memory of the device. */
#include <cuda_runtime_api.h>

int main(void)
{
    float *p;
    if (cudaMalloc((void **)&p, 4096) != cudaSuccess)
        return 2;
    return p[3] > 0;
}
