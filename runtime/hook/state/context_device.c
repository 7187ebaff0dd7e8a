/* See context_device.h. */
#include "runtime/hook/state/context_device.h"

static struct {
    void *push, *pop, *get_device, *get_attribute;
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
