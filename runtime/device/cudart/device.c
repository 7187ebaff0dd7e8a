/* What the devices are and how they are set. CUDA Runtime API, "Device Management". */
#include "runtime.h"

#include <string.h>

/* ---- Properties: each member from the driver's attribute of the same meaning ---- */

#define MEMBER(member)                                                                             \
    offsetof(struct cudaDeviceProp, member), sizeof(((struct cudaDeviceProp *)0)->member)
#define ATTRIBUTE(name) CU_DEVICE_ATTRIBUTE_##name

static const struct {
    size_t offset, bytes;
    CUdevice_attribute attribute;
} members[] = {
    {MEMBER(sharedMemPerBlock), ATTRIBUTE(MAX_SHARED_MEMORY_PER_BLOCK)},
    {MEMBER(regsPerBlock), ATTRIBUTE(MAX_REGISTERS_PER_BLOCK)},
    {MEMBER(warpSize), ATTRIBUTE(WARP_SIZE)},
    {MEMBER(memPitch), ATTRIBUTE(MAX_PITCH)},
    {MEMBER(maxThreadsPerBlock), ATTRIBUTE(MAX_THREADS_PER_BLOCK)},
    {MEMBER(maxThreadsDim[0]), ATTRIBUTE(MAX_BLOCK_DIM_X)},
    {MEMBER(maxThreadsDim[1]), ATTRIBUTE(MAX_BLOCK_DIM_Y)},
    {MEMBER(maxThreadsDim[2]), ATTRIBUTE(MAX_BLOCK_DIM_Z)},
    {MEMBER(maxGridSize[0]), ATTRIBUTE(MAX_GRID_DIM_X)},
    {MEMBER(maxGridSize[1]), ATTRIBUTE(MAX_GRID_DIM_Y)},
    {MEMBER(maxGridSize[2]), ATTRIBUTE(MAX_GRID_DIM_Z)},
    {MEMBER(totalConstMem), ATTRIBUTE(TOTAL_CONSTANT_MEMORY)},
    {MEMBER(major), ATTRIBUTE(COMPUTE_CAPABILITY_MAJOR)},
    {MEMBER(minor), ATTRIBUTE(COMPUTE_CAPABILITY_MINOR)},
    {MEMBER(textureAlignment), ATTRIBUTE(TEXTURE_ALIGNMENT)},
    {MEMBER(texturePitchAlignment), ATTRIBUTE(TEXTURE_PITCH_ALIGNMENT)},
    {MEMBER(multiProcessorCount), ATTRIBUTE(MULTIPROCESSOR_COUNT)},
    {MEMBER(integrated), ATTRIBUTE(INTEGRATED)},
    {MEMBER(canMapHostMemory), ATTRIBUTE(CAN_MAP_HOST_MEMORY)},
    {MEMBER(maxTexture1D), ATTRIBUTE(MAXIMUM_TEXTURE1D_WIDTH)},
    {MEMBER(maxTexture1DMipmap), ATTRIBUTE(MAXIMUM_TEXTURE1D_MIPMAPPED_WIDTH)},
    {MEMBER(maxTexture2D[0]), ATTRIBUTE(MAXIMUM_TEXTURE2D_WIDTH)},
    {MEMBER(maxTexture2D[1]), ATTRIBUTE(MAXIMUM_TEXTURE2D_HEIGHT)},
    {MEMBER(maxTexture2DMipmap[0]), ATTRIBUTE(MAXIMUM_TEXTURE2D_MIPMAPPED_WIDTH)},
    {MEMBER(maxTexture2DMipmap[1]), ATTRIBUTE(MAXIMUM_TEXTURE2D_MIPMAPPED_HEIGHT)},
    {MEMBER(maxTexture2DLinear[0]), ATTRIBUTE(MAXIMUM_TEXTURE2D_LINEAR_WIDTH)},
    {MEMBER(maxTexture2DLinear[1]), ATTRIBUTE(MAXIMUM_TEXTURE2D_LINEAR_HEIGHT)},
    {MEMBER(maxTexture2DLinear[2]), ATTRIBUTE(MAXIMUM_TEXTURE2D_LINEAR_PITCH)},
    {MEMBER(maxTexture2DGather[0]), ATTRIBUTE(MAXIMUM_TEXTURE2D_GATHER_WIDTH)},
    {MEMBER(maxTexture2DGather[1]), ATTRIBUTE(MAXIMUM_TEXTURE2D_GATHER_HEIGHT)},
    {MEMBER(maxTexture3D[0]), ATTRIBUTE(MAXIMUM_TEXTURE3D_WIDTH)},
    {MEMBER(maxTexture3D[1]), ATTRIBUTE(MAXIMUM_TEXTURE3D_HEIGHT)},
    {MEMBER(maxTexture3D[2]), ATTRIBUTE(MAXIMUM_TEXTURE3D_DEPTH)},
    {MEMBER(maxTexture3DAlt[0]), ATTRIBUTE(MAXIMUM_TEXTURE3D_WIDTH_ALTERNATE)},
    {MEMBER(maxTexture3DAlt[1]), ATTRIBUTE(MAXIMUM_TEXTURE3D_HEIGHT_ALTERNATE)},
    {MEMBER(maxTexture3DAlt[2]), ATTRIBUTE(MAXIMUM_TEXTURE3D_DEPTH_ALTERNATE)},
    {MEMBER(maxTextureCubemap), ATTRIBUTE(MAXIMUM_TEXTURECUBEMAP_WIDTH)},
    {MEMBER(maxTexture1DLayered[0]), ATTRIBUTE(MAXIMUM_TEXTURE1D_LAYERED_WIDTH)},
    {MEMBER(maxTexture1DLayered[1]), ATTRIBUTE(MAXIMUM_TEXTURE1D_LAYERED_LAYERS)},
    {MEMBER(maxTexture2DLayered[0]), ATTRIBUTE(MAXIMUM_TEXTURE2D_LAYERED_WIDTH)},
    {MEMBER(maxTexture2DLayered[1]), ATTRIBUTE(MAXIMUM_TEXTURE2D_LAYERED_HEIGHT)},
    {MEMBER(maxTexture2DLayered[2]), ATTRIBUTE(MAXIMUM_TEXTURE2D_LAYERED_LAYERS)},
    {MEMBER(maxTextureCubemapLayered[0]), ATTRIBUTE(MAXIMUM_TEXTURECUBEMAP_LAYERED_WIDTH)},
    {MEMBER(maxTextureCubemapLayered[1]), ATTRIBUTE(MAXIMUM_TEXTURECUBEMAP_LAYERED_LAYERS)},
    {MEMBER(maxSurface1D), ATTRIBUTE(MAXIMUM_SURFACE1D_WIDTH)},
    {MEMBER(maxSurface2D[0]), ATTRIBUTE(MAXIMUM_SURFACE2D_WIDTH)},
    {MEMBER(maxSurface2D[1]), ATTRIBUTE(MAXIMUM_SURFACE2D_HEIGHT)},
    {MEMBER(maxSurface3D[0]), ATTRIBUTE(MAXIMUM_SURFACE3D_WIDTH)},
    {MEMBER(maxSurface3D[1]), ATTRIBUTE(MAXIMUM_SURFACE3D_HEIGHT)},
    {MEMBER(maxSurface3D[2]), ATTRIBUTE(MAXIMUM_SURFACE3D_DEPTH)},
    {MEMBER(maxSurface1DLayered[0]), ATTRIBUTE(MAXIMUM_SURFACE1D_LAYERED_WIDTH)},
    {MEMBER(maxSurface1DLayered[1]), ATTRIBUTE(MAXIMUM_SURFACE1D_LAYERED_LAYERS)},
    {MEMBER(maxSurface2DLayered[0]), ATTRIBUTE(MAXIMUM_SURFACE2D_LAYERED_WIDTH)},
    {MEMBER(maxSurface2DLayered[1]), ATTRIBUTE(MAXIMUM_SURFACE2D_LAYERED_HEIGHT)},
    {MEMBER(maxSurface2DLayered[2]), ATTRIBUTE(MAXIMUM_SURFACE2D_LAYERED_LAYERS)},
    {MEMBER(maxSurfaceCubemap), ATTRIBUTE(MAXIMUM_SURFACECUBEMAP_WIDTH)},
    {MEMBER(maxSurfaceCubemapLayered[0]), ATTRIBUTE(MAXIMUM_SURFACECUBEMAP_LAYERED_WIDTH)},
    {MEMBER(maxSurfaceCubemapLayered[1]), ATTRIBUTE(MAXIMUM_SURFACECUBEMAP_LAYERED_LAYERS)},
    {MEMBER(surfaceAlignment), ATTRIBUTE(SURFACE_ALIGNMENT)},
    {MEMBER(concurrentKernels), ATTRIBUTE(CONCURRENT_KERNELS)},
    {MEMBER(ECCEnabled), ATTRIBUTE(ECC_ENABLED)},
    {MEMBER(pciBusID), ATTRIBUTE(PCI_BUS_ID)},
    {MEMBER(pciDeviceID), ATTRIBUTE(PCI_DEVICE_ID)},
    {MEMBER(pciDomainID), ATTRIBUTE(PCI_DOMAIN_ID)},
    {MEMBER(tccDriver), ATTRIBUTE(TCC_DRIVER)},
    {MEMBER(asyncEngineCount), ATTRIBUTE(ASYNC_ENGINE_COUNT)},
    {MEMBER(unifiedAddressing), ATTRIBUTE(UNIFIED_ADDRESSING)},
    {MEMBER(memoryBusWidth), ATTRIBUTE(GLOBAL_MEMORY_BUS_WIDTH)},
    {MEMBER(l2CacheSize), ATTRIBUTE(L2_CACHE_SIZE)},
    {MEMBER(persistingL2CacheMaxSize), ATTRIBUTE(MAX_PERSISTING_L2_CACHE_SIZE)},
    {MEMBER(maxThreadsPerMultiProcessor), ATTRIBUTE(MAX_THREADS_PER_MULTIPROCESSOR)},
    {MEMBER(streamPrioritiesSupported), ATTRIBUTE(STREAM_PRIORITIES_SUPPORTED)},
    {MEMBER(globalL1CacheSupported), ATTRIBUTE(GLOBAL_L1_CACHE_SUPPORTED)},
    {MEMBER(localL1CacheSupported), ATTRIBUTE(LOCAL_L1_CACHE_SUPPORTED)},
    {MEMBER(sharedMemPerMultiprocessor), ATTRIBUTE(MAX_SHARED_MEMORY_PER_MULTIPROCESSOR)},
    {MEMBER(regsPerMultiprocessor), ATTRIBUTE(MAX_REGISTERS_PER_MULTIPROCESSOR)},
    {MEMBER(managedMemory), ATTRIBUTE(MANAGED_MEMORY)},
    {MEMBER(isMultiGpuBoard), ATTRIBUTE(MULTI_GPU_BOARD)},
    {MEMBER(multiGpuBoardGroupID), ATTRIBUTE(MULTI_GPU_BOARD_GROUP_ID)},
    {MEMBER(hostNativeAtomicSupported), ATTRIBUTE(HOST_NATIVE_ATOMIC_SUPPORTED)},
    {MEMBER(pageableMemoryAccess), ATTRIBUTE(PAGEABLE_MEMORY_ACCESS)},
    {MEMBER(concurrentManagedAccess), ATTRIBUTE(CONCURRENT_MANAGED_ACCESS)},
    {MEMBER(computePreemptionSupported), ATTRIBUTE(COMPUTE_PREEMPTION_SUPPORTED)},
    {MEMBER(canUseHostPointerForRegisteredMem), ATTRIBUTE(CAN_USE_HOST_POINTER_FOR_REGISTERED_MEM)},
    {MEMBER(cooperativeLaunch), ATTRIBUTE(COOPERATIVE_LAUNCH)},
    {MEMBER(sharedMemPerBlockOptin), ATTRIBUTE(MAX_SHARED_MEMORY_PER_BLOCK_OPTIN)},
    {MEMBER(pageableMemoryAccessUsesHostPageTables),
     ATTRIBUTE(PAGEABLE_MEMORY_ACCESS_USES_HOST_PAGE_TABLES)},
    {MEMBER(directManagedMemAccessFromHost), ATTRIBUTE(DIRECT_MANAGED_MEM_ACCESS_FROM_HOST)},
    {MEMBER(maxBlocksPerMultiProcessor), ATTRIBUTE(MAX_BLOCKS_PER_MULTIPROCESSOR)},
    {MEMBER(accessPolicyMaxWindowSize), ATTRIBUTE(MAX_ACCESS_POLICY_WINDOW_SIZE)},
    {MEMBER(reservedSharedMemPerBlock), ATTRIBUTE(RESERVED_SHARED_MEMORY_PER_BLOCK)},
    {MEMBER(hostRegisterSupported), ATTRIBUTE(HOST_REGISTER_SUPPORTED)},
    {MEMBER(sparseCudaArraySupported), ATTRIBUTE(SPARSE_CUDA_ARRAY_SUPPORTED)},
    {MEMBER(hostRegisterReadOnlySupported), ATTRIBUTE(READ_ONLY_HOST_REGISTER_SUPPORTED)},
    {MEMBER(timelineSemaphoreInteropSupported), ATTRIBUTE(TIMELINE_SEMAPHORE_INTEROP_SUPPORTED)},
    {MEMBER(memoryPoolsSupported), ATTRIBUTE(MEMORY_POOLS_SUPPORTED)},
    {MEMBER(gpuDirectRDMASupported), ATTRIBUTE(GPU_DIRECT_RDMA_SUPPORTED)},
    {MEMBER(gpuDirectRDMAFlushWritesOptions), ATTRIBUTE(GPU_DIRECT_RDMA_FLUSH_WRITES_OPTIONS)},
    {MEMBER(gpuDirectRDMAWritesOrdering), ATTRIBUTE(GPU_DIRECT_RDMA_WRITES_ORDERING)},
    {MEMBER(memoryPoolSupportedHandleTypes), ATTRIBUTE(MEMPOOL_SUPPORTED_HANDLE_TYPES)},
    {MEMBER(deferredMappingCudaArraySupported), ATTRIBUTE(DEFERRED_MAPPING_CUDA_ARRAY_SUPPORTED)},
    {MEMBER(ipcEventSupported), ATTRIBUTE(IPC_EVENT_SUPPORTED)},
    {MEMBER(clusterLaunch), ATTRIBUTE(CLUSTER_LAUNCH)},
    {MEMBER(unifiedFunctionPointers), ATTRIBUTE(UNIFIED_FUNCTION_POINTERS)},
    {MEMBER(deviceNumaConfig), ATTRIBUTE(NUMA_CONFIG)},
    {MEMBER(deviceNumaId), ATTRIBUTE(NUMA_ID)},
    {MEMBER(mpsEnabled), ATTRIBUTE(MPS_ENABLED)},
    {MEMBER(hostNumaId), ATTRIBUTE(HOST_NUMA_ID)},
    {MEMBER(gpuPciDeviceID), ATTRIBUTE(GPU_PCI_DEVICE_ID)},
    {MEMBER(gpuPciSubsystemID), ATTRIBUTE(GPU_PCI_SUBSYSTEM_ID)},
    {MEMBER(hostNumaMultinodeIpcSupported), ATTRIBUTE(HOST_NUMA_MULTINODE_IPC_SUPPORTED)},
};

/* An attribute the driver does not know leaves its member 0. */
static void fill_members(struct cudaDeviceProp *properties, CUdevice device)
{
    for (size_t i = 0; i < sizeof members / sizeof *members; i++) {
        int value = 0;
        if (driver.cuDeviceGetAttribute[0](&value, members[i].attribute, device) != CUDA_SUCCESS)
            continue;
        size_t wide = (size_t)value;
        memcpy((char *)properties + members[i].offset,
               members[i].bytes == sizeof wide ? (void *)&wide : (void *)&value, members[i].bytes);
    }
}

API cudaError_t cudaGetDeviceProperties(struct cudaDeviceProp *properties, int ordinal)
{
    CUdevice device;
    cudaError_t error = runtime_start();
    if (error != cudaSuccess)
        return error;
    if (!properties)
        return error_record(cudaErrorInvalidValue);
    if (driver.cuDeviceGet[0](&device, ordinal) != CUDA_SUCCESS)
        return error_record(cudaErrorInvalidDevice);
    memset(properties, 0, sizeof *properties);
    fill_members(properties, device);
    driver.cuDeviceGetUuid[0](&properties->uuid, device);
    driver.cuDeviceGetLuid[0](properties->luid, &properties->luidDeviceNodeMask, device);
    driver.cuDeviceTotalMem[0](&properties->totalGlobalMem, device);
    return error_from(driver.cuDeviceGetName[0](properties->name, sizeof properties->name, device));
}

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
