/* The devices, and which one a thread uses. CUDA Runtime API, "Device Management". Their properties
 * are in properties.c. */
#include "runtime/device/cudart/runtime.h"

/* enum cudaDeviceAttr has the numbers of CUdevice_attribute. */
API cudaError_t cudaDeviceGetAttribute(int *value, enum cudaDeviceAttr attribute, int ordinal)
{
    CUdevice device;
    cudaError_t error = runtime_start();
    if (error != cudaSuccess)
        return error;
    if (driver.cuDeviceGet[0](&device, ordinal) != CUDA_SUCCESS)
        return error_record(cudaErrorInvalidDevice);
    return error_from(driver.cuDeviceGetAttribute[0](value, (CUdevice_attribute)attribute, device));
}

API cudaError_t cudaDeviceGetPCIBusId(char *text, int length, int device)
{
    cudaError_t error = runtime_start();
    return error != cudaSuccess ? error
                                : error_from(driver.cuDeviceGetPCIBusId[0](text, length, device));
}

API cudaError_t cudaDeviceGetByPCIBusId(int *device, const char *text)
{
    cudaError_t error = runtime_start();
    return error != cudaSuccess ? error : error_from(driver.cuDeviceGetByPCIBusId[0](device, text));
}

/* The device closest to what is asked for: of equals the first. */
API cudaError_t cudaChooseDevice(int *device, const struct cudaDeviceProp *wanted)
{
    int count = 0;
    if (!device || !wanted)
        return error_record(cudaErrorInvalidValue);
    cudaError_t error = cudaGetDeviceCount(&count);
    if (error == cudaSuccess)
        *device = 0;
    return error;
}

/* The list orders which device a thread gets that never chose one; device 0 stays the first. */
API cudaError_t cudaSetValidDevices(int *list, int count)
{
    int devices = 0;
    cudaError_t error = cudaGetDeviceCount(&devices);
    if (error != cudaSuccess)
        return error;
    if ((!list && count) || count < 0 || count > devices)
        return error_record(cudaErrorInvalidValue);
    for (int i = 0; i < count; i++)
        if (list[i] < 0 || list[i] >= devices)
            return error_record(cudaErrorInvalidDevice);
    return cudaSuccess;
}

/* ---- Settings of the current device ---- */

static cudaError_t current(int *ordinal)
{
    cudaError_t error = runtime_start();
    return error != cudaSuccess ? error : cudaGetDevice(ordinal);
}

API cudaError_t cudaSetDeviceFlags(unsigned int flags)
{
    int device = 0;
    cudaError_t error = current(&device);
    if (error == cudaSuccess && (flags & ~(unsigned)cudaDeviceMask))
        return error_record(cudaErrorInvalidValue);
    /* Host memory can always be mapped: the flag says nothing to the driver. */
    return error != cudaSuccess ? error
                                : error_from(driver.cuDevicePrimaryCtxSetFlags[0](
                                      device, flags & ~(unsigned)cudaDeviceMapHost));
}

API cudaError_t cudaGetDeviceFlags(unsigned int *flags)
{
    int device = 0, active = 0;
    cudaError_t error = current(&device);
    return error != cudaSuccess
               ? error
               : error_from(driver.cuDevicePrimaryCtxGetState[0](device, flags, &active));
}

API cudaError_t cudaDeviceGetLimit(size_t *value, enum cudaLimit limit)
{
    ENTER();
    return error_from(driver.cuCtxGetLimit[0](value, (CUlimit)limit));
}

API cudaError_t cudaDeviceSetLimit(enum cudaLimit limit, size_t value)
{
    ENTER();
    return error_from(driver.cuCtxSetLimit[0]((CUlimit)limit, value));
}

API cudaError_t cudaDeviceGetCacheConfig(enum cudaFuncCache *config)
{
    ENTER();
    return error_from(driver.cuCtxGetCacheConfig[0]((CUfunc_cache *)config));
}

API cudaError_t cudaDeviceSetCacheConfig(enum cudaFuncCache config)
{
    ENTER();
    return error_from(driver.cuCtxSetCacheConfig[0]((CUfunc_cache)config));
}

/* Banks have been of four bytes since compute capability 5.0. */
API cudaError_t cudaDeviceGetSharedMemConfig(enum cudaSharedMemConfig *config)
{
    ENTER();
    if (!config)
        return error_record(cudaErrorInvalidValue);
    *config = cudaSharedMemBankSizeFourByte;
    return cudaSuccess;
}

API cudaError_t cudaDeviceSetSharedMemConfig(enum cudaSharedMemConfig config)
{
    (void)config;
    ENTER();
    return cudaSuccess;
}

API cudaError_t cudaDeviceGetStreamPriorityRange(int *least, int *greatest)
{
    ENTER();
    return error_from(driver.cuCtxGetStreamPriorityRange[0](least, greatest));
}

API cudaError_t cudaCtxResetPersistingL2Cache(void)
{
    ENTER();
    return error_from(driver.cuCtxResetPersistingL2Cache[0]());
}

/* ---- Other devices ---- */

API cudaError_t cudaDeviceCanAccessPeer(int *can, int device, int peer)
{
    cudaError_t error = runtime_start();
    return error != cudaSuccess ? error
                                : error_from(driver.cuDeviceCanAccessPeer[0](can, device, peer));
}

API cudaError_t cudaDeviceGetP2PAttribute(int *value, enum cudaDeviceP2PAttr attribute, int from,
                                          int to)
{
    cudaError_t error = runtime_start();
    return error != cudaSuccess ? error
                                : error_from(driver.cuDeviceGetP2PAttribute[0](
                                      value, (CUdevice_P2PAttribute)attribute, from, to));
}

API cudaError_t cudaDeviceEnablePeerAccess(int peer, unsigned int flags)
{
    CUcontext context = NULL;
    ENTER();
    cudaError_t error = runtime_context(peer, &context);
    return error != cudaSuccess ? error
                                : error_from(driver.cuCtxEnablePeerAccess[0](context, flags));
}

API cudaError_t cudaDeviceDisablePeerAccess(int peer)
{
    CUcontext context = NULL;
    ENTER();
    cudaError_t error = runtime_context(peer, &context);
    return error != cudaSuccess ? error : error_from(driver.cuCtxDisablePeerAccess[0](context));
}

/* ---- Nothing to do here ---- */

/* No profiler watches the embedded device. */
API cudaError_t cudaProfilerStart(void)
{
    return cudaSuccess;
}
API cudaError_t cudaProfilerStop(void)
{
    return cudaSuccess;
}

API struct cudaChannelFormatDesc cudaCreateChannelDesc(int x, int y, int z, int w,
                                                       enum cudaChannelFormatKind kind)
{
    return (struct cudaChannelFormatDesc){x, y, z, w, kind};
}
