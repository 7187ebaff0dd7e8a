// Every form of the driver's entry points under its own symbol: old versions, and those whose
// stream 0 is the per-thread default stream. Include it before anything that includes cuda.h.
#pragma once

#define __CUDA_API_VERSION_INTERNAL
#include "driver_check.h"
#include "driver_ptx.h"

#include <cstdint>
#include <cstring>
#include <thread>

static const size_t BYTES = 4096, ROW = 64, ROWS = BYTES / ROW;

// What an operation is called with: `p` is what another stream touches, too.
struct operands {
    CUdeviceptr p, q;
    void *host; // pinned
    CUcontext context;
    CUfunction fill;
};

// One form, and how to call it on `p` in stream 0.
struct form {
    const char *name;
    CUresult (*call)(const operands &on);
};

#define FORM(symbol, ...)                                                                          \
    {                                                                                              \
#symbol, [](const operands &on) { return symbol(__VA_ARGS__); }                            \
    }
#define BOTH_FORMS(symbol, suffix, ...) FORM(symbol, __VA_ARGS__), FORM(symbol##suffix, __VA_ARGS__)

static bool is_per_thread(const form &one)
{
    return strstr(one.name, "_pts") || strstr(one.name, "_ptd");
}

static CUdeviceptr device_bytes()
{
    CUdeviceptr p;
    DRIVER_CHECK(cuMemAlloc_v2(&p, BYTES));
    return p;
}

static CUstream nonblocking_stream()
{
    CUstream stream;
    DRIVER_CHECK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    return stream;
}

// Sets the bytes in the per-thread default stream of a host thread of its own.
static void set_in_another_thread(CUcontext context, CUdeviceptr p)
{
    std::thread([=] {
        DRIVER_CHECK(cuCtxSetCurrent(context));
        DRIVER_CHECK(cuMemsetD8Async_ptsz(p, 1, BYTES, 0));
    }).join();
}
