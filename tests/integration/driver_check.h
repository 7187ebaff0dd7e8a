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

// The primary context of device 0, current.
static inline CUcontext context_make_current()
{
    CUdevice device;
    CUcontext context;
    DRIVER_CHECK(cuInit(0));
    DRIVER_CHECK(cuDeviceGet(&device, 0));
    DRIVER_CHECK(cuDevicePrimaryCtxRetain(&context, device));
    DRIVER_CHECK(cuCtxSetCurrent(context));
    return context;
}
