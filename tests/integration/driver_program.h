// The same two-stream program over the driver API, however its functions were found.
#pragma once

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cuda.h>

struct driver_api {
    decltype(&cuInit) init;
    decltype(&cuDeviceGet) device_get;
    decltype(&cuDevicePrimaryCtxRetain) primary_retain;
    decltype(&cuCtxSetCurrent) set_current;
    decltype(&cuModuleLoadData) module_load;
    decltype(&cuModuleGetFunction) module_function;
    decltype(&cuStreamCreate) stream_create;
    decltype(&cuMemAlloc) mem_alloc;
    decltype(&cuLaunchKernel) launch;
    decltype(&cuCtxSynchronize) synchronize;
};

#define DRIVER_CHECK(call)                                                                         \
    do {                                                                                           \
        CUresult status_ = (call);                                                                 \
        if (status_ != CUDA_SUCCESS) {                                                             \
            fprintf(stderr, "%s:%d: %s failed: %d\n", __FILE__, __LINE__, #call, (int)status_);    \
            exit(101);                                                                             \
        }                                                                                          \
    } while (0)

// p[global thread] = value
static const char driver_ptx[] = R"(
.version 7.0
.target sm_70
.address_size 64

.visible .entry driver_fill(.param .u64 p, .param .u32 value)
{
    .reg .b32 %r<6>;
    .reg .b64 %rd<5>;
    ld.param.u64 %rd1, [p];
    ld.param.u32 %r1, [value];
    cvta.to.global.u64 %rd2, %rd1;
    mov.u32 %r2, %ctaid.x;
    mov.u32 %r3, %ntid.x;
    mov.u32 %r4, %tid.x;
    mad.lo.s32 %r5, %r2, %r3, %r4;
    mul.wide.s32 %rd3, %r5, 4;
    add.s64 %rd4, %rd2, %rd3;
    st.global.u32 [%rd4], %r1;
    ret;
}
)";

static int driver_program(const driver_api *cuda)
{
    enum { COUNT = 1024, THREADS = 128 };
    CUdevice device;
    CUcontext context;
    CUmodule module;
    CUfunction fill;
    CUstream streams[2];
    CUdeviceptr p;
    DRIVER_CHECK(cuda->init(0));
    DRIVER_CHECK(cuda->device_get(&device, 0));
    DRIVER_CHECK(cuda->primary_retain(&context, device));
    DRIVER_CHECK(cuda->set_current(context));
    DRIVER_CHECK(cuda->module_load(&module, driver_ptx));
    DRIVER_CHECK(cuda->module_function(&fill, module, "driver_fill"));
    DRIVER_CHECK(cuda->mem_alloc(&p, COUNT * sizeof(int)));
    for (int i = 0; i < 2; i++) {
        DRIVER_CHECK(cuda->stream_create(&streams[i], CU_STREAM_NON_BLOCKING));
        void *parameters[] = {&p, &i};
        DRIVER_CHECK(cuda->launch(fill, COUNT / THREADS, 1, 1, THREADS, 1, 1, 0, streams[i],
                                  parameters, nullptr));
    }
    DRIVER_CHECK(cuda->synchronize());
    printf("done\n");
    return 0;
}
