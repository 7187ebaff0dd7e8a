// verdict: race
// expect: , 3 races
// options: dedup=0
// flags: -std=c++17
// link: -lcuda
// ways: run
// limit: 120
// Each form of what ends a stream, an event, host memory or a context. The end of a stream orders
// nothing, and its work races with that of another, as do two rows of pitched memory that share
// bytes; the host has waited for the device where host memory or a context is gone.
#include "driver_forms.h"

static char pageable[BYTES];
static CUstream other;
static int retained; // how often the primary context was

static CUcontext primary_make_current()
{
    retained++;
    return context_make_current();
}

static void set(CUdeviceptr p, CUstream stream)
{
    DRIVER_CHECK(cuMemsetD8Async(p, 1, BYTES, stream));
}

static void stream_end(CUresult (*destroy)(CUstream))
{
    CUdeviceptr p = device_bytes();
    CUstream stream = nonblocking_stream();
    set(p, stream);
    DRIVER_CHECK(destroy(stream));
    set(p, other);
    DRIVER_CHECK(cuCtxSynchronize());
}

// The events' order stays when they are gone, and a time that the driver returned orders the host.
static void events_end(CUresult (*destroy)(CUevent), CUresult (*elapsed)(float *, CUevent, CUevent))
{
    CUdeviceptr p = device_bytes();
    CUstream stream = nonblocking_stream();
    CUevent start, stop;
    float milliseconds;
    DRIVER_CHECK(cuEventCreate(&start, CU_EVENT_DEFAULT));
    DRIVER_CHECK(cuEventCreate(&stop, CU_EVENT_DEFAULT));
    DRIVER_CHECK(cuEventRecord(start, stream));
    set(p, stream);
    DRIVER_CHECK(cuEventRecord(stop, stream));
    while (elapsed(&milliseconds, start, stop) == CUDA_ERROR_NOT_READY)
        ;
    set(p, other);
    DRIVER_CHECK(cuEventRecord(stop, other));
    DRIVER_CHECK(cuStreamWaitEvent(stream, stop, 0));
    DRIVER_CHECK(destroy(start));
    DRIVER_CHECK(destroy(stop));
    set(p, stream);
    DRIVER_CHECK(cuCtxSynchronize());
}

// Work of a stream goes on until `end` has waited for it.
template <typename END> static void host_memory_ends(END end)
{
    CUdeviceptr p = device_bytes();
    CUstream stream = nonblocking_stream();
    set(p, stream);
    end();
    set(p, other);
    DRIVER_CHECK(cuCtxSynchronize());
}

// Copies to host memory in a context that then goes, and from there in the primary one.
template <typename END> static void context_ends(CUcontext context, END end)
{
    DRIVER_CHECK(cuCtxSetCurrent(context));
    DRIVER_CHECK(cuMemcpyDtoHAsync_v2(pageable, device_bytes(), BYTES, nonblocking_stream()));
    DRIVER_CHECK(end(context));
    primary_make_current();
    DRIVER_CHECK(cuMemcpyHtoDAsync_v2(device_bytes(), pageable, BYTES, nonblocking_stream()));
    DRIVER_CHECK(cuCtxSynchronize());
}

template <typename CREATE> static CUcontext context_create(CREATE create)
{
    CUcontext context;
    CUdevice device;
    DRIVER_CHECK(cuCtxGetDevice(&device));
    DRIVER_CHECK(create(&context, device));
    return context;
}

static void primary_ends(CUresult (*end)(CUdevice), bool once)
{
    CUdevice device;
    DRIVER_CHECK(cuCtxGetDevice(&device));
    context_ends(primary_make_current(), [=](CUcontext) {
        CUresult result;
        do
            result = end(device);
        while (!once && result == CUDA_SUCCESS && --retained);
        retained = 0;
        return result;
    });
}

static void rows_of_pitched_memory()
{
    CUdeviceptr p;
    size_t pitch;
    DRIVER_CHECK(cuMemAllocPitch_v2(&p, &pitch, 64, 64, 4));
    DRIVER_CHECK(cuMemsetD2D8Async(p, pitch, 1, 40, 64, nonblocking_stream()));
    DRIVER_CHECK(cuMemsetD2D8Async(p + 32, pitch, 1, 32, 64, other));
    DRIVER_CHECK(cuCtxSynchronize());
}

int main()
{
    void *host;
    primary_make_current();
    other = nonblocking_stream();
    stream_end(cuStreamDestroy);
    stream_end(cuStreamDestroy_v2);
    events_end(cuEventDestroy, cuEventElapsedTime);
    events_end(cuEventDestroy_v2, cuEventElapsedTime_v2);
    rows_of_pitched_memory();
    DRIVER_CHECK(cuMemAllocHost_v2(&host, BYTES));
    host_memory_ends([=] { DRIVER_CHECK(cuMemFreeHost(host)); });
    DRIVER_CHECK(cuMemHostRegister(pageable, BYTES, 0));
    host_memory_ends([] { DRIVER_CHECK(cuMemHostUnregister(pageable)); });
    DRIVER_CHECK(cuMemHostRegister_v2(pageable, BYTES, 0));
    host_memory_ends([] { DRIVER_CHECK(cuMemHostUnregister(pageable)); });
    context_ends(context_create([](CUcontext *c, CUdevice d) { return cuCtxCreate_v2(c, 0, d); }),
                 cuCtxDestroy);
    context_ends(context_create(
                     [](CUcontext *c, CUdevice d) { return cuCtxCreate_v3(c, nullptr, 0, 0, d); }),
                 cuCtxDestroy_v2);
    context_ends(
        context_create([](CUcontext *c, CUdevice d) { return cuCtxCreate_v4(c, nullptr, 0, d); }),
        cuCtxDetach);
    primary_ends(cuDevicePrimaryCtxRelease, false);
    primary_ends(cuDevicePrimaryCtxRelease_v2, false);
    primary_ends(cuDevicePrimaryCtxReset, true);
    primary_ends(cuDevicePrimaryCtxReset_v2, true);
    printf("done\n");
    return 0;
}
