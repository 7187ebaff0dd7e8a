/* Compute capabilities. See architecture.h. */
#include "runtime/hook/state/architecture.h"
#include "runtime/hook/interpose/driver.h"

/* 0 when the driver does not say. */
static void architecture_of(CUdevice device, int *major, int *minor)
{
    static void *get_attribute;
    PFN_cuDeviceGetAttribute_v2000 ask = (PFN_cuDeviceGetAttribute_v2000)driver_function_cached(
        &get_attribute, "cuDeviceGetAttribute");
    *major = *minor = 0;
    if (!ask)
        return;
    ask(major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, device);
    ask(minor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, device);
}

void architecture_current(int *major, int *minor)
{
    static void *get_device;
    CUdevice device = 0;
    *major = *minor = 0;
    PFN_cuCtxGetDevice_v2000 ask =
        (PFN_cuCtxGetDevice_v2000)driver_function_cached(&get_device, "cuCtxGetDevice");
    if (ask && ask(&device) == CUDA_SUCCESS)
        architecture_of(device, major, minor);
}

bool architecture_is_one(void)
{
    static void *get_count;
    int count = 0, first[2], other[2];
    PFN_cuDeviceGetCount_v2000 ask =
        (PFN_cuDeviceGetCount_v2000)driver_function_cached(&get_count, "cuDeviceGetCount");
    if (!ask || ask(&count) != CUDA_SUCCESS || count < 1)
        return false;
    architecture_of(0, &first[0], &first[1]);
    for (int device = 1; device < count; device++) {
        architecture_of(device, &other[0], &other[1]);
        if (other[0] != first[0] || other[1] != first[1])
            return false;
    }
    return true;
}
