// verdict: race
// library: cufft
// expect: cufftExecR2C
// expect: writing to argument\(s\) odata
// expect: Overlap: 8 bytes
// Rows of a transform of reals have n / 2 + 1 elements, not n / 2.
#include "fft.h"

int main()
{
    cudaStream_t a = nonblocking_stream(), b = nonblocking_stream();
    cufftHandle first = fft_on(a, 64, CUFFT_R2C, 1), second = fft_on(b, 64, CUFFT_R2C, 1);
    cufftReal *in = zeroed<cufftReal>(128);
    cufftComplex *out = zeroed<cufftComplex>(2 * 33);
    FFT(cufftExecR2C(first, in, out));
    FFT(cufftExecR2C(second, in + 64, out + 32));
    return finish();
}
