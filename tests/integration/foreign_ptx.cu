// verdict: none
// flags: -gencode arch=compute_90,code=sm_90 -gencode arch=compute_120,code=compute_120
// skip: embedded
// Machine code for sm_90, and PTX of a later architecture, as libraries have it. The code depends
// on the architecture: what the PTX says is not what the device runs.
#include "expect.h"

__global__ void fill_for_architecture(int *p)
{
#if __CUDA_ARCH__ >= 1000
    p[N + threadIdx.x] = 1;
#else
    p[threadIdx.x] = 1;
#endif
}

int main()
{
    int *p = device_array<int>();
    cudaStream_t stream = nonblocking_stream();
    for (int i = 0; i < 4; i++)
        fill_for_architecture<<<1, 64, 0, stream>>>(p);
    CHECK(cudaGetLastError());
    CHECK(cudaStreamSynchronize(stream));
    return finish();
}
