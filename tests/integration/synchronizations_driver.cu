// verdict: none
// cuda: 13
// link: -lcuda
// ways: run
// Every kind of synchronization of the driver API, each the only order between what is before it
// and what is after. tests/shell/test_mutate.sh leaves them out one by one.
#include "driver_program.h"

static const size_t BYTES = 4096;

static void set(CUdeviceptr p, CUstream stream)
{
    DRIVER_CHECK(cuMemsetD8Async(p, 1, BYTES, stream));
}

int main()
{
    CUdevice device;
    CUcontext context;
    CUstream a, b;
    CUevent e;
    CUdeviceptr p;
    DRIVER_CHECK(cuInit(0));
    DRIVER_CHECK(cuDeviceGet(&device, 0));
    DRIVER_CHECK(cuDevicePrimaryCtxRetain(&context, device));
    DRIVER_CHECK(cuCtxSetCurrent(context));
    DRIVER_CHECK(cuStreamCreate(&a, CU_STREAM_NON_BLOCKING));
    DRIVER_CHECK(cuStreamCreate(&b, CU_STREAM_NON_BLOCKING));
    DRIVER_CHECK(cuEventCreate(&e, CU_EVENT_DISABLE_TIMING));
    DRIVER_CHECK(cuMemAlloc(&p, BYTES));
    set(p, a);
    DRIVER_CHECK(cuEventRecord(e, a));
    DRIVER_CHECK(cuStreamWaitEvent(b, e, 0)); // at: wait
    set(p, b);
    DRIVER_CHECK(cuEventRecord(e, b));
    DRIVER_CHECK(cuEventSynchronize(e)); // at: event
    set(p, a);
    DRIVER_CHECK(cuStreamSynchronize(a)); // at: stream
    set(p, b);
    DRIVER_CHECK(cuCtxSynchronize()); // at: device
    set(p, a);
    DRIVER_CHECK(cuCtxSynchronize_v2(context)); // at: context
    set(p, b);
    printf("done\n");
    return 0;
}
