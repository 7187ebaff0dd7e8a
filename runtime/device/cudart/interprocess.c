/* Memory and events that processes share. CUDA Runtime API, "Device Management". */
#include "runtime/device/cudart/runtime.h"

#include <string.h>

_Static_assert(sizeof(cudaIpcMemHandle_t) == sizeof(CUipcMemHandle), "the same bytes");
_Static_assert(sizeof(cudaIpcEventHandle_t) == sizeof(CUipcEventHandle), "the same bytes");

API cudaError_t cudaIpcGetMemHandle(cudaIpcMemHandle_t *handle, void *devPtr)
{
    ENTER();
    return error_from(
        driver.cuIpcGetMemHandle[0]((CUipcMemHandle *)handle, (CUdeviceptr)(uintptr_t)devPtr));
}

API cudaError_t cudaIpcOpenMemHandle(void **devPtr, cudaIpcMemHandle_t handle, unsigned int flags)
{
    CUipcMemHandle same;
    ENTER();
    memcpy(&same, &handle, sizeof same);
    return error_from(driver.cuIpcOpenMemHandle[0]((CUdeviceptr *)devPtr, same, flags));
}

API cudaError_t cudaIpcCloseMemHandle(void *devPtr)
{
    ENTER();
    return error_from(driver.cuIpcCloseMemHandle[0]((CUdeviceptr)(uintptr_t)devPtr));
}

API cudaError_t cudaIpcGetEventHandle(cudaIpcEventHandle_t *handle, cudaEvent_t event)
{
    ENTER();
    return error_from(driver.cuIpcGetEventHandle[0]((CUipcEventHandle *)handle, event));
}

API cudaError_t cudaIpcOpenEventHandle(cudaEvent_t *event, cudaIpcEventHandle_t handle)
{
    CUipcEventHandle same;
    ENTER();
    memcpy(&same, &handle, sizeof same);
    return error_from(driver.cuIpcOpenEventHandle[0](event, same));
}
