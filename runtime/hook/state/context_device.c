/* See context_device.h. */
#include "runtime/hook/state/context_device.h"

static struct {
    void *push, *pop, *get_device, *get_attribute, *get_access, *get_count;
} functions;

static bool push(CUcontext context)
{
    PFN_cuCtxPushCurrent_v4000 call =
        (PFN_cuCtxPushCurrent_v4000)driver_function_cached(&functions.push, "cuCtxPushCurrent_v2");
    return call && call(context) == CUDA_SUCCESS;
}

static void pop(void)
{
    CUcontext former;
    PFN_cuCtxPopCurrent_v4000 call =
        (PFN_cuCtxPopCurrent_v4000)driver_function_cached(&functions.pop, "cuCtxPopCurrent_v2");
    if (call)
        call(&former);
}

int context_device(CUcontext context)
{
    PFN_cuCtxGetDevice_v2000 get =
        (PFN_cuCtxGetDevice_v2000)driver_function_cached(&functions.get_device, "cuCtxGetDevice");
    CUdevice device = -1;
    if (!get || !push(context))
        return -1;
    if (get(&device) != CUDA_SUCCESS)
        device = -1;
    pop();
    return device;
}

/* "If there exists no device pointer value through which kernels running in the current CUcontext
 * may access ptr then CUDA_ERROR_INVALID_VALUE is returned" (cuPointerGetAttribute,
 * CU_POINTER_ATTRIBUTE_DEVICE_POINTER). So it was seen of memory of a device and of a pool. */
bool context_device_reaches(CUcontext context, uint64_t address)
{
    PFN_cuPointerGetAttribute_v4000 ask = (PFN_cuPointerGetAttribute_v4000)driver_function_cached(
        &functions.get_attribute, "cuPointerGetAttribute");
    CUdeviceptr_v2 reached;
    if (!ask || !push(context))
        return true;
    const CUresult result =
        ask(&reached, CU_POINTER_ATTRIBUTE_DEVICE_POINTER, (CUdeviceptr_v2)address);
    pop();
    return result != CUDA_ERROR_INVALID_VALUE;
}

bool context_device_maps(CUcontext context, uint64_t address)
{
    PFN_cuMemGetAccess_v10020 ask =
        (PFN_cuMemGetAccess_v10020)driver_function_cached(&functions.get_access, "cuMemGetAccess");
    const CUmemLocation location = {.type = CU_MEM_LOCATION_TYPE_DEVICE,
                                    .id = context_device(context)};
    unsigned long long flags = 0;
    return !ask || location.id < 0 ||
           ask(&flags, &location, (CUdeviceptr_v2)address) != CUDA_SUCCESS ||
           flags != CU_MEM_ACCESS_FLAGS_PROT_NONE;
}

int memory_device(uint64_t address)
{
    PFN_cuPointerGetAttribute_v4000 ask = (PFN_cuPointerGetAttribute_v4000)driver_function_cached(
        &functions.get_attribute, "cuPointerGetAttribute");
    int ordinal = -1;
    if (!ask ||
        ask(&ordinal, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, (CUdeviceptr_v2)address) != CUDA_SUCCESS)
        return -1;
    return ordinal;
}

bool devices_are_several(void)
{
    static int known; /* devices, and one; atomic */
    PFN_cuDeviceGetCount_v2000 count;
    int now = __atomic_load_n(&known, __ATOMIC_RELAXED);
    if (!now) {
        count = (PFN_cuDeviceGetCount_v2000)driver_function_cached(&functions.get_count,
                                                                   "cuDeviceGetCount");
        if (!count || count(&now) != CUDA_SUCCESS)
            return false;
        __atomic_store_n(&known, ++now, __ATOMIC_RELAXED);
    }
    return now > 2;
}
