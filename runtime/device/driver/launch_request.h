/* What a program asks for when it launches a kernel, and whether it may. */
#ifndef RUNTIME_DEVICE_DRIVER_LAUNCH_REQUEST_H
#define RUNTIME_DEVICE_DRIVER_LAUNCH_REQUEST_H

#include "runtime/device/module/module.h"

/* What all the ways to launch have in common. */
struct launch_request {
    CUfunction handle;
    uint32_t grid[3], block[3], cluster[3];
    uint64_t dynamic_shared;
    CUstream stream;
    bool per_thread, cooperative;
    bool beside; /* it may begin before the kernel before it in its stream has ended */
    void **params, **extra;
    CUevent events[2]; /* recorded by the launch */
    unsigned event_count;
};

/* CUDA_SUCCESS, or the error of the CUDA Driver API ("Execution Control") for sizes that the kernel
 * or the device does not allow. Without a cluster shape of its own the request gets the function's.
 * With the device's lock. */
CUresult launch_request_check(struct launch_request *request, const struct CUfunc_st *function);

/* Copies the parameters into `target`, of ptx->param_bytes bytes, as the kernel reads them.
 * CUDA_ERROR_INVALID_VALUE where some are not passed, or are passed twice. */
CUresult launch_request_params(const struct launch_request *request, const struct ptx_function *ptx,
                               void *target);

#endif
