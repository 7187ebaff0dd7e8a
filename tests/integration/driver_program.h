// The same two-stream program over the driver API, however its functions were found.
#pragma once

#include "driver_check.h"
#include "driver_ptx.h"

#include <cstdint>

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
