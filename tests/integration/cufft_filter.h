// A spectrum that one stream computes and another one scales.
#include "fft.h"

__global__ void scale(cufftComplex *p, int n, float by)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        p[i].x *= by;
        p[i].y *= by;
    }
}

int main()
{
    enum { SIZE = 256 };
    cudaStream_t a = nonblocking_stream(), b = nonblocking_stream();
    cufftHandle forward = fft_on(a, SIZE, CUFFT_R2C, 1), back = fft_on(b, SIZE, CUFFT_C2R, 1);
    float host[SIZE], *signal = device_array<float>(SIZE);
    cufftComplex *spectrum = zeroed<cufftComplex>(SIZE / 2 + 1);
    for (int i = 0; i < SIZE; i++)
        host[i] = (float)(i % 7);
    CHECK(cudaMemcpy(signal, host, sizeof host, cudaMemcpyHostToDevice));
    CHECK(cudaDeviceSynchronize());
    FFT(cufftExecR2C(forward, signal, spectrum));
    if (ORDERED) {
        cudaEvent_t event = event_create();
        CHECK(cudaEventRecord(event, a));
        CHECK(cudaStreamWaitEvent(b, event));
    }
    scale<<<2, 128, 0, b>>>(spectrum, SIZE / 2 + 1, 1.0f / SIZE);
    CHECK(cudaGetLastError());
    FFT(cufftExecC2R(back, spectrum, signal));
    CHECK(cudaMemcpyAsync(host, signal, sizeof host, cudaMemcpyDeviceToHost, b));
    CHECK(cudaDeviceSynchronize());
    for (int i = 0; ORDERED && i < SIZE; i++)
        if (host[i] < (float)(i % 7) - 1e-4f || host[i] > (float)(i % 7) + 1e-4f)
            printf("wrong at %d: %g\n", i, (double)host[i]);
    printf("done\n");
    return 0;
}
