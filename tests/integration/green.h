// Green contexts: partitions of a device, each with streams of its own.
#pragma once

#include "value.h"

static CUcontext primary;
static CUgreenCtx greens[2];

static void greens_create()
{
    CUdevResource all, parts[2];
    unsigned count = 2;
    CHECK(cudaFree(nullptr));
    DRIVER_CHECK(cuCtxGetCurrent(&primary));
    DRIVER_CHECK(cuDeviceGetDevResource(0, &all, CU_DEV_RESOURCE_TYPE_SM));
    DRIVER_CHECK(cuDevSmResourceSplitByCount(parts, &count, &all, nullptr, 0, 8));
    for (int i = 0; i < 2; i++) {
        CUdevResourceDesc description;
        DRIVER_CHECK(cuDevResourceGenerateDesc(&description, &parts[i], 1));
        DRIVER_CHECK(cuGreenCtxCreate(&greens[i], description, 0, CU_GREEN_CTX_DEFAULT_STREAM));
    }
}

static cudaStream_t green_stream(int which)
{
    CUstream stream;
    DRIVER_CHECK(cuGreenCtxStreamCreate(&stream, greens[which], CU_STREAM_NON_BLOCKING, 0));
    return stream;
}
