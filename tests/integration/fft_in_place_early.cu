// verdict: race
// library: cufft
// expect: cufftExecC2C
// expect: writing to argument\(s\) .*odata
// expect: Overlap: 2048 bytes
// Another stream reads the transform before it is done.
#include "fft.h"

int main()
{
    cudaStream_t a = nonblocking_stream(), b = nonblocking_stream();
    cufftHandle plan = fft_on(a, 64, CUFFT_C2C, 4);
    cufftComplex *data = zeroed<cufftComplex>(256), *copy = zeroed<cufftComplex>(256);
    FFT(cufftExecC2C(plan, data, data, CUFFT_FORWARD));
    CHECK(cudaMemcpyAsync(copy, data, 2048, cudaMemcpyDeviceToDevice, b));
    return finish();
}
