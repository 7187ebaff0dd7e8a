// verdict: possible
// library: cufft
// expect: cufftExecC2C
// expect: writing to argument\(s\) plan
// Two plans with one work area, on two streams.
#include "fft.h"

int main()
{
    cudaStream_t streams[] = {nonblocking_stream(), nonblocking_stream()};
    cufftHandle plans[2];
    size_t bytes = 0;
    for (int i = 0; i < 2; i++) {
        FFT(cufftCreate(&plans[i]));
        FFT(cufftSetAutoAllocation(plans[i], 0));
        FFT(cufftMakePlan1d(plans[i], 1009 * 1013, CUFFT_C2C, 1, &bytes));
        FFT(cufftSetStream(plans[i], streams[i]));
    }
    cufftComplex *data[] = {zeroed<cufftComplex>(1009 * 1013), zeroed<cufftComplex>(1009 * 1013)};
    char *work = zeroed<char>(bytes);
    for (int i = 0; i < 2; i++)
        FFT(cufftSetWorkArea(plans[i], work));
    for (int i = 0; i < 2; i++)
        FFT(cufftExecC2C(plans[i], data[i], data[i], CUFFT_FORWARD));
    return finish();
}
