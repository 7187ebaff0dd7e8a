// verdict: possible
// library: cufft
// expect: cufftExecC2C
// expect: writing to argument\(s\) plan
// One plan on two streams: it has one work area.
#include "fft.h"

int main()
{
    enum { SIZE = 1009 * 1013 };
    cudaStream_t a = nonblocking_stream(), b = nonblocking_stream();
    cufftHandle plan = fft_on(a, SIZE, CUFFT_C2C, 1);
    cufftComplex *first = zeroed<cufftComplex>(SIZE), *second = zeroed<cufftComplex>(SIZE);
    FFT(cufftExecC2C(plan, first, first, CUFFT_FORWARD));
    FFT(cufftSetStream(plan, b));
    FFT(cufftExecC2C(plan, second, second, CUFFT_FORWARD));
    return finish();
}
