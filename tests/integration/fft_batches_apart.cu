// verdict: none
// library: cufft
// Two streams transform the halves of one array, real to complex; each has its own plan.
#include "fft.h"

int main()
{
    cudaStream_t a = nonblocking_stream(), b = nonblocking_stream();
    cufftHandle first = fft_on(a, 64, CUFFT_R2C, 4), second = fft_on(b, 64, CUFFT_R2C, 4);
    cufftReal *in = zeroed<cufftReal>(512);
    cufftComplex *out = zeroed<cufftComplex>(8 * 33);
    FFT(cufftExecR2C(first, in, out));
    FFT(cufftExecR2C(second, in + 256, out + 4 * 33));
    return finish();
}
