// A program without kernels: only its calls show which CUDA it was built for. 0: it got that
// one.
#include <cstdio>
#include <cuda_runtime_api.h>

int main()
{
    cudaDeviceProp properties;
    int version = 0;
    if (cudaRuntimeGetVersion(&version) != cudaSuccess ||
        cudaGetDeviceProperties(&properties, 0) != cudaSuccess)
        return 1;
#if CUDART_VERSION >= 13000
    cudaLogIterator now;
    cudaLogsCurrent(&now, 0); // which CUDA 12 has not
#endif
    printf("%d, built for %d\n", version, CUDART_VERSION);
    return version / 1000 != CUDART_VERSION / 1000 || properties.warpSize != 32;
}
