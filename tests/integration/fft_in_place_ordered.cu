// verdict: none
// library: cufft
// The other stream waits for the transform.
#include "fft.h"

int main()
{
    cudaStream_t a = nonblocking_stream(), b = nonblocking_stream();
    cudaEvent_t done = event_create();
    cufftHandle plan = fft_on(a, 64, CUFFT_C2C, 4);
    cufftComplex *data = zeroed<cufftComplex>(256), *copy = zeroed<cufftComplex>(256);
    FFT(cufftExecC2C(plan, data, data, CUFFT_FORWARD));
    CHECK(cudaEventRecord(done, a));
    CHECK(cudaStreamWaitEvent(b, done, 0));
    CHECK(cudaMemcpyAsync(copy, data, 2048, cudaMemcpyDeviceToDevice, b));
    return finish();
}
