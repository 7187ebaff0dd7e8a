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

// Words that hold 0.
static inline CUdeviceptr words(size_t count = 2)
{
    void *p = nullptr;
    CHECK(cudaMalloc(&p, count * sizeof(uint64_t)));
    CHECK(cudaMemset(p, 0, count * sizeof(uint64_t)));
    CHECK(cudaDeviceSynchronize());
    return (CUdeviceptr)p;
}
