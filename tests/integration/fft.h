// What the programs with cuFFT share.
#pragma once

#include "program.h"

#include <cufft.h>

#define FFT(call)                                                                                  \
    do {                                                                                           \
        cufftResult status_ = (call);                                                              \
        if (status_ != CUFFT_SUCCESS) {                                                            \
            fprintf(stderr, "%s:%d: %s failed: %d\n", __FILE__, __LINE__, #call, (int)status_);    \
            exit(101);                                                                             \
        }                                                                                          \
    } while (0)

static inline cufftHandle fft_on(cudaStream_t stream, int n, cufftType type, int batch)
{
    cufftHandle plan;
    FFT(cufftPlan1d(&plan, n, type, batch));
    FFT(cufftSetStream(plan, stream));
    return plan;
}

template <typename T> static T *zeroed(size_t count)
{
    T *p = device_array<T>(count);
    CHECK(cudaMemset(p, 0, count * sizeof(T)));
    CHECK(cudaDeviceSynchronize());
    return p;
}
