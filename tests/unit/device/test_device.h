/* What the embedded device's tests without kernels share. */
#ifndef TESTS_UNIT_DEVICE_TEST_DEVICE_H
#define TESTS_UNIT_DEVICE_TEST_DEVICE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <cuda.h>
#include "tests/unit/device/test_schedules.h"

static const char *schedule;

#define ok(call) assert_int_equal((call), CUDA_SUCCESS)

static CUcontext context;

static int start(void **state)
{
    (void)state;
    CUresult result = cuInit(0);
    if (result == CUDA_SUCCESS)
        result = cuDevicePrimaryCtxRetain(&context, 0);
    if (result == CUDA_SUCCESS)
        result = cuCtxSetCurrent(context);
    return result;
}

static int finish(void **state)
{
    (void)state;
    return cuCtxSynchronize() != CUDA_SUCCESS || cuDevicePrimaryCtxRelease(0) != CUDA_SUCCESS;
}

#endif
