// What the programs with cuBLAS share.
#pragma once

#include "program.h"

#include <cublas_v2.h>

#define BLAS(call)                                                                                 \
    do {                                                                                           \
        cublasStatus_t status_ = (call);                                                           \
        if (status_ != CUBLAS_STATUS_SUCCESS) {                                                    \
            fprintf(stderr, "%s:%d: %s failed: %d\n", __FILE__, __LINE__, #call, (int)status_);    \
            exit(101);                                                                             \
        }                                                                                          \
    } while (0)

static inline cublasHandle_t blas_on(cudaStream_t stream)
{
    cublasHandle_t handle;
    BLAS(cublasCreate(&handle));
    BLAS(cublasSetStream(handle, stream));
    return handle;
}

// Memory that all streams may use from now on: cuBLAS may wait for the device at its first call,
// so programs make their handles first and end with this.
static inline float *matrix_zeroed(int rows, int columns)
{
    float *p = device_array<float>((size_t)rows * columns);
    CHECK(cudaMemset(p, 0, (size_t)rows * columns * sizeof(float)));
    CHECK(cudaDeviceSynchronize());
    return p;
}

static const float one = 1, zero = 0;
