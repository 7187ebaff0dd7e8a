// verdict: race
// expect: scale\(float\*, float, int\)
// expect: example_error.cu:{racy}
//
// The example of PyTorch's CUDA Stream Sanitizer, in CUDA C++: an array is initialised on the
// default stream, and multiplied in place on another stream, with nothing that orders the two.
// The multiplication may read what is not written yet, or be overwritten by the initialisation.
// example_error_fixed.cu is the same program with the order it needs.

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

    // A stream made by plain cudaStreamCreate would be ordered with the default stream. Most
    // frameworks, PyTorch among them, make non-blocking ones, which are not.
    cudaStream_t side;
    CHECK(cudaStreamCreateWithFlags(&side, cudaStreamNonBlocking));

    initialize<<<n / 256, 256>>>(a, n);
    CHECK(cudaGetLastError());

    scale<<<n / 256, 256, 0, side>>>(a, 5.0f, n); // the race    // at: racy
    CHECK(cudaGetLastError());

    CHECK(cudaDeviceSynchronize());
    CHECK(cudaStreamDestroy(side));
    CHECK(cudaFree(a));
    printf("done\n");
    return 0;
}
