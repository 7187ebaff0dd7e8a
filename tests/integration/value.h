// Memory operations of streams: words that one stream writes and another one waits for.
#pragma once

#include "program.h"

#include <cuda.h>

#define DRIVER_CHECK(call)                                                                         \
    do {                                                                                           \
        CUresult status_ = (call);                                                                 \
        if (status_ != CUDA_SUCCESS) {                                                             \
            fprintf(stderr, "%s:%d: %s failed: %d\n", __FILE__, __LINE__, #call, (int)status_);    \
            exit(101);                                                                             \
        }                                                                                          \
    } while (0)

// A kernel's first launch may load it, which may wait for all streams (CUDA Programming Guide, Lazy
// Loading): it is done before one of them waits for a value.
static inline void kernels_load()
{
    cudaFuncAttributes attributes;
    CHECK(cudaFuncGetAttributes(&attributes, (const void *)fill));
    CHECK(cudaFuncGetAttributes(&attributes, (const void *)increment));
    CHECK(cudaFuncGetAttributes(&attributes, (const void *)copy));
}

// Words that hold 0.
static inline CUdeviceptr words(size_t count = 2)
{
    void *p = nullptr;
    kernels_load();
    CHECK(cudaMalloc(&p, count * sizeof(uint64_t)));
    CHECK(cudaMemset(p, 0, count * sizeof(uint64_t)));
    CHECK(cudaDeviceSynchronize());
    return (CUdeviceptr)p;
}
