// verdict: none
//
// example_error.cu without its race: an event carries the order from the default stream to the
// other one. The host never waits.

#include "check.h"

__global__ void initialize(float *p, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        p[i] = 1.0f + i % 7;
}

__global__ void scale(float *p, float factor, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        p[i] *= factor;
}

int main()
{
    const int n = 4096;
    float *a;
    CHECK(cudaMalloc(&a, n * sizeof(float)));

    cudaStream_t side;
    CHECK(cudaStreamCreateWithFlags(&side, cudaStreamNonBlocking));
    cudaEvent_t initialized;
    CHECK(cudaEventCreateWithFlags(&initialized, cudaEventDisableTiming));

    initialize<<<n / 256, 256>>>(a, n);
    CHECK(cudaGetLastError());

    CHECK(cudaEventRecord(initialized, 0));           // the fix: record after the first kernel,
    CHECK(cudaStreamWaitEvent(side, initialized, 0)); // wait before the second

    scale<<<n / 256, 256, 0, side>>>(a, 5.0f, n);
    CHECK(cudaGetLastError());

    CHECK(cudaDeviceSynchronize());
    CHECK(cudaEventDestroy(initialized));
    CHECK(cudaStreamDestroy(side));
    CHECK(cudaFree(a));
    printf("done\n");
    return 0;
}
