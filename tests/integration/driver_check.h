// A driver call that must succeed.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <cuda.h>

#define DRIVER_CHECK(call)                                                                         \
    do {                                                                                           \
        CUresult status_ = (call);                                                                 \
        if (status_ != CUDA_SUCCESS) {                                                             \
            fprintf(stderr, "%s:%d: %s failed: %d\n", __FILE__, __LINE__, #call, (int)status_);    \
            exit(101);                                                                             \
        }                                                                                          \
    } while (0)
