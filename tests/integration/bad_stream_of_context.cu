// verdict: race
// finding: stream of another context
// cuda: 13
// expect: , 1 race,
// expect: bad_stream_of_context.cu:{last}
// link: -lcuda
// ways: run
// A stream of another context: an event of this context is not recorded in it, and a kernel of this
// one not launched, with the driver's own errors; neither call makes an order or an access.
#include "driver_check.h"
#include "driver_ptx.h"
#include <cstdio>

enum { BYTES = 4096, COUNT = BYTES / 4, THREADS = 128 };

static void expect(CUresult result, CUresult expected, int line)
{
    if (result == expected)
        return;
    fprintf(stderr, "line %d: %d\n", line, (int)result);
    exit(102);
}

int main()
{
    CUcontext first, second;
    CUstream a, b, theirs;
    CUevent event;
    CUdeviceptr p, q;
    CUmodule module;
    CUfunction fill;
    unsigned value = 1;
    DRIVER_CHECK(cuInit(0));
    DRIVER_CHECK(cuCtxCreate(&second, nullptr, 0, 0));
    DRIVER_CHECK(cuStreamCreate(&theirs, CU_STREAM_NON_BLOCKING));
    DRIVER_CHECK(cuCtxCreate(&first, nullptr, 0, 0));
    DRIVER_CHECK(cuStreamCreate(&a, CU_STREAM_NON_BLOCKING));
    DRIVER_CHECK(cuStreamCreate(&b, CU_STREAM_NON_BLOCKING));
    DRIVER_CHECK(cuEventCreate(&event, CU_EVENT_DISABLE_TIMING));
    DRIVER_CHECK(cuModuleLoadData(&module, driver_ptx));
    DRIVER_CHECK(cuModuleGetFunction(&fill, module, "driver_fill"));
    DRIVER_CHECK(cuMemAlloc(&p, BYTES));
    DRIVER_CHECK(cuMemAlloc(&q, BYTES));
    void *arguments[] = {&q, &value};

    DRIVER_CHECK(cuMemsetD8Async(p, 1, BYTES, a));
    DRIVER_CHECK(cuEventRecord(event, a));
    expect(cuEventRecord(event, theirs), CUDA_ERROR_INVALID_HANDLE, __LINE__);
    CUresult refused =
        cuLaunchKernel(fill, COUNT / THREADS, 1, 1, THREADS, 1, 1, 0, theirs, arguments, nullptr);
    if (refused != CUDA_ERROR_INVALID_HANDLE && refused != CUDA_ERROR_INVALID_CONTEXT)
        return 103;
    DRIVER_CHECK(cuStreamWaitEvent(b, event, 0)); // as it was recorded before
    DRIVER_CHECK(cuMemsetD8Async(p, 2, BYTES, b));
    DRIVER_CHECK(cuMemsetD8Async(q, 1, BYTES, a));
    DRIVER_CHECK(cuMemsetD8Async(q, 2, BYTES, b)); // at: last
    DRIVER_CHECK(cuCtxSynchronize());
    printf("done\n");
    return 0;
}
