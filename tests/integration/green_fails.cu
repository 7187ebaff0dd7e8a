// link: -lcuda
// ways: run run-static
// verdict: none
// A stream without the flag non-blocking: the error of the driver, and nothing changes.
#include "green.h"

int main()
{
    greens_create();
    int *p = device_array<int>();
    cudaStream_t a = green_stream(0), b = green_stream(1);
    cudaEvent_t e = event_create();
    CUstream stream;
    if (cuGreenCtxStreamCreate(&stream, greens[0], CU_STREAM_DEFAULT, 0) !=
        CUDA_ERROR_INVALID_VALUE)
        return 102;
    launch_fill(a, p);
    (void)b, (void)e;
    return finish();
}
