// A call whose error is known: the driver's own, with csan and without.
#pragma once

#include "program.h"

#define EXPECT(call, code)                                                                         \
    do {                                                                                           \
        cudaError_t status_ = (call);                                                              \
        cudaGetLastError();                                                                        \
        if (status_ != (code)) {                                                                   \
            fprintf(stderr, "%s:%d: %s gave %s\n", __FILE__, __LINE__, #call,                      \
                    cudaGetErrorName(status_));                                                    \
            exit(102);                                                                             \
        }                                                                                          \
    } while (0)
