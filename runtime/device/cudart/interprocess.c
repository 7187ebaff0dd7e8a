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

/* ---- Pools ---- */

API cudaError_t cudaMemPoolExportToShareableHandle(void *handle, cudaMemPool_t pool,
                                                   enum cudaMemAllocationHandleType type,
                                                   unsigned int flags)
{
    ENTER();
    return error_from(driver.cuMemPoolExportToShareableHandle[0](
        handle, pool, (CUmemAllocationHandleType)type, flags));
}

API cudaError_t cudaMemPoolImportFromShareableHandle(cudaMemPool_t *pool, void *handle,
                                                     enum cudaMemAllocationHandleType type,
                                                     unsigned int flags)
{
    ENTER();
    return error_from(driver.cuMemPoolImportFromShareableHandle[0](
        pool, handle, (CUmemAllocationHandleType)type, flags));
}

API cudaError_t cudaMemPoolExportPointer(struct cudaMemPoolPtrExportData *data, void *pointer)
{
    ENTER();
    return error_from(
        driver.cuMemPoolExportPointer[0]((CUmemPoolPtrExportData *)data, (CUdeviceptr)pointer));
}

API cudaError_t cudaMemPoolImportPointer(void **pointer, cudaMemPool_t pool,
                                         struct cudaMemPoolPtrExportData *data)
{
    ENTER();
    return error_from(driver.cuMemPoolImportPointer[0]((CUdeviceptr *)pointer, pool,
                                                       (CUmemPoolPtrExportData *)data));
}
