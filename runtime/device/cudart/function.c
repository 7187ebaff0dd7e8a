/* Properties of a kernel, and its settings. CUDA Runtime API, "Execution Control". */
#include "runtime/device/cudart/runtime.h"

static int attribute(CUkernel kernel, CUfunction_attribute which)
{
    int value = 0;
    return driver.cuKernelGetAttribute[0](&value, which, kernel, runtime_device()) == CUDA_SUCCESS
               ? value
               : 0;
}

API cudaError_t cudaFuncGetAttributes(struct cudaFuncAttributes *attributes, const void *function)
{
    CUkernel kernel = NULL;
    ENTER();
    if (!attributes)
        return error_record(cudaErrorInvalidValue);
    cudaError_t error = registry_kernel(function, &kernel);
    if (error != cudaSuccess)
        return error;
    *attributes = (struct cudaFuncAttributes){
        .sharedSizeBytes = (size_t)attribute(kernel, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES),
        .constSizeBytes = (size_t)attribute(kernel, CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES),
        .localSizeBytes = (size_t)attribute(kernel, CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES),
        .maxThreadsPerBlock = attribute(kernel, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK),
        .numRegs = attribute(kernel, CU_FUNC_ATTRIBUTE_NUM_REGS),
        .ptxVersion = attribute(kernel, CU_FUNC_ATTRIBUTE_PTX_VERSION),
        .binaryVersion = attribute(kernel, CU_FUNC_ATTRIBUTE_BINARY_VERSION),
        .cacheModeCA = attribute(kernel, CU_FUNC_ATTRIBUTE_CACHE_MODE_CA),
        .maxDynamicSharedSizeBytes =
            attribute(kernel, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES),
        .preferredShmemCarveout =
            attribute(kernel, CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT),
        .clusterDimMustBeSet = attribute(kernel, CU_FUNC_ATTRIBUTE_CLUSTER_SIZE_MUST_BE_SET),
        .requiredClusterWidth = attribute(kernel, CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH),
        .requiredClusterHeight = attribute(kernel, CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_HEIGHT),
        .requiredClusterDepth = attribute(kernel, CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_DEPTH),
        .clusterSchedulingPolicyPreference =
            attribute(kernel, CU_FUNC_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE),
        .nonPortableClusterSizeAllowed =
            attribute(kernel, CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED),
    };
    return cudaSuccess;
}

API cudaError_t cudaFuncSetAttribute(const void *function, enum cudaFuncAttribute which, int value)
{
    CUkernel kernel = NULL;
    ENTER();
    cudaError_t error = registry_kernel(function, &kernel);
    return error != cudaSuccess
               ? error
               : error_from(driver.cuKernelSetAttribute[0]((CUfunction_attribute)which, value,
                                                           kernel, runtime_device()));
}

API cudaError_t cudaKernelSetAttributeForDevice(cudaKernel_t kernel, enum cudaFuncAttribute which,
                                                int value, int device)
{
    ENTER();
    return error_from(driver.cuKernelSetAttribute[0]((CUfunction_attribute)which, value,
                                                     (CUkernel)kernel, device));
}

API cudaError_t cudaFuncSetCacheConfig(const void *function, enum cudaFuncCache config)
{
    CUkernel kernel = NULL;
    ENTER();
    cudaError_t error = registry_kernel(function, &kernel);
    return error != cudaSuccess ? error
                                : error_from(driver.cuKernelSetCacheConfig[0](
                                      kernel, (CUfunc_cache)config, runtime_device()));
}

/* Banks have been of one size since compute capability 5.0: "this function is a no-op". */
API cudaError_t cudaFuncSetSharedMemConfig(const void *function, enum cudaSharedMemConfig config)
{
    CUkernel kernel = NULL;
    (void)config;
    ENTER();
    return registry_kernel(function, &kernel);
}

API cudaError_t cudaFuncGetName(const char **name, const void *function)
{
    CUkernel kernel = NULL;
    ENTER();
    cudaError_t error = registry_kernel(function, &kernel);
    return error != cudaSuccess ? error : error_from(driver.cuKernelGetName[0](name, kernel));
}

API cudaError_t cudaFuncGetParamInfo(const void *function, size_t index, size_t *offset,
                                     size_t *size)
{
    CUkernel kernel = NULL;
    ENTER();
    cudaError_t error = registry_kernel(function, &kernel);
    return error != cudaSuccess
               ? error
               : error_from(driver.cuKernelGetParamInfo[0](kernel, index, offset, size));
}
