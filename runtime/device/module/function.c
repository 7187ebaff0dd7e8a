/* What programs ask and set about functions and kernels: cuFunc* and the cuKernel* twins. */
#include "runtime/device/module/module.h"

#include <stdlib.h>

enum {
    DEVICE_BINARY_VERSION = 90,
    REGISTERS = 32, /* a plausible number: the device has no register file to fill */
    SHARED_OPTIN_MAX = 227 << 10,
    PORTABLE_CLUSTER = 8,
};

unsigned function_max_threads(const struct ptx_function *ptx)
{
    const uint32_t *bounds = ptx->reqntid[0] ? ptx->reqntid : ptx->maxntid;
    if (!bounds[0])
        return 1024;
    uint64_t threads = bounds[0];
    for (int i = 1; i < 3; i++)
        threads *= bounds[i] ? bounds[i] : 1;
    return threads < 1024 ? (unsigned)threads : 1024;
}

static CUresult get_attribute(int *value, CUfunction_attribute attribute,
                              const struct ptx_function *ptx, const struct settings *settings)
{
    const uint32_t *cluster = ptx->required_cluster;
    switch (attribute) {
    case CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK:
        *value = (int)function_max_threads(ptx);
        return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES:
        *value = (int)exec_shared_bytes(ptx);
        return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES:
        *value = (int)ptx->module->const_bytes;
        return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES:
        *value = (int)exec_local_bytes(ptx);
        return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_NUM_REGS:
        *value = REGISTERS;
        return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_PTX_VERSION: /* of the image chosen, not of the device */
        *value = (int)ptx->module->target;
        return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_BINARY_VERSION:
        *value = DEVICE_BINARY_VERSION;
        return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_CACHE_MODE_CA:
        *value = 0;
        return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES:
        *value = settings->dynamic_shared_limit;
        return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT:
        *value = settings->carveout;
        return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_CLUSTER_SIZE_MUST_BE_SET:
        *value = 0;
        return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH:
    case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_HEIGHT:
    case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_DEPTH: {
        int axis = (int)attribute - CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH;
        *value = (int)(cluster[axis] ? cluster[axis] : settings->cluster[axis]);
        return CUDA_SUCCESS;
    }
    case CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED:
        *value = settings->non_portable_cluster;
        return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE:
        *value = settings->cluster_scheduling;
        return CUDA_SUCCESS;
    default:
        return CUDA_ERROR_INVALID_VALUE;
    }
}

static CUresult set_attribute(struct settings *settings, const struct ptx_function *ptx,
                              CUfunction_attribute attribute, int value)
{
    switch (attribute) {
    case CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES:
        /* "The sum of this value and the function attribute CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES
         * cannot exceed the device attribute MAX_SHARED_MEMORY_PER_BLOCK_OPTIN." */
        if (value < 0 || (uint64_t)value + exec_shared_bytes(ptx) > SHARED_OPTIN_MAX)
            return CUDA_ERROR_INVALID_VALUE;
        settings->dynamic_shared_limit = value;
        return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT:
        if (value < -1 || value > 100)
            return CUDA_ERROR_INVALID_VALUE;
        settings->carveout = value;
        return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH:
    case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_HEIGHT:
    case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_DEPTH:
        /* "If the required cluster dimensions are set at compile time, setting [them] will return
         * CUDA_ERROR_NOT_PERMITTED." */
        if (ptx->required_cluster[0])
            return CUDA_ERROR_NOT_PERMITTED;
        if (value < 0)
            return CUDA_ERROR_INVALID_VALUE;
        settings->cluster[attribute - CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH] = (uint32_t)value;
        return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED:
        settings->non_portable_cluster = value != 0;
        return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE:
        settings->cluster_scheduling = value;
        return CUDA_SUCCESS;
    default:
        return CUDA_ERROR_INVALID_VALUE;
    }
}

/* "If paramIndex is greater than or equal to the number of parameters": CUDA_ERROR_INVALID_VALUE.
 */
static CUresult param_info(const struct ptx_function *ptx, size_t index, size_t *offset,
                           size_t *size)
{
    if (!offset || index >= ptx->param_count)
        return CUDA_ERROR_INVALID_VALUE;
    *offset = ptx->params[index].offset;
    if (size)
        *size = ptx->params[index].size;
    return CUDA_SUCCESS;
}

/* ---- Functions ----------------------------------------------------------------------------- */

static CUresult enter_function(CUfunction handle, struct CUfunc_st **function)
{
    struct CUctx_st *context;
    CUresult result = device_enter_context(&context);
    if (result != CUDA_SUCCESS)
        return result;
    result = function_resolve(handle, context, function);
    return result == CUDA_SUCCESS ? result : device_leave(result);
}

CUresult CUDAAPI cuFuncGetAttribute(int *pi, CUfunction_attribute attrib, CUfunction hfunc)
{
    struct CUfunc_st *function;
    CUresult result = enter_function(hfunc, &function);
    if (result != CUDA_SUCCESS)
        return result;
    return device_leave(pi ? get_attribute(pi, attrib, function->ptx, function->settings)
                           : CUDA_ERROR_INVALID_VALUE);
}

CUresult CUDAAPI cuFuncSetAttribute(CUfunction hfunc, CUfunction_attribute attrib, int value)
{
    struct CUfunc_st *function;
    CUresult result = enter_function(hfunc, &function);
    if (result != CUDA_SUCCESS)
        return result;
    return device_leave(set_attribute(function->settings, function->ptx, attrib, value));
}

CUresult CUDAAPI cuFuncSetCacheConfig(CUfunction hfunc, CUfunc_cache config)
{
    struct CUfunc_st *function;
    CUresult result = enter_function(hfunc, &function);
    if (result != CUDA_SUCCESS)
        return result;
    if ((unsigned)config > CU_FUNC_CACHE_PREFER_EQUAL)
        return device_leave(CUDA_ERROR_INVALID_VALUE);
    function->cache = config;
    return device_leave(CUDA_SUCCESS);
}

/* Banks of shared memory have had one size since compute capability 5.0: accepted, no effect. */
CUresult CUDAAPI cuFuncSetSharedMemConfig(CUfunction hfunc, CUsharedconfig config)
{
    struct CUfunc_st *function;
    CUresult result = enter_function(hfunc, &function);
    if (result != CUDA_SUCCESS)
        return result;
    return device_leave((unsigned)config <= CU_SHARED_MEM_CONFIG_EIGHT_BYTE_BANK_SIZE
                            ? CUDA_SUCCESS
                            : CUDA_ERROR_INVALID_VALUE);
}

CUresult CUDAAPI cuFuncGetModule(CUmodule *hmod, CUfunction hfunc)
{
    struct CUfunc_st *function;
    CUresult result = enter_function(hfunc, &function);
    if (result != CUDA_SUCCESS)
        return result;
    if (!hmod)
        return device_leave(CUDA_ERROR_INVALID_VALUE);
    *hmod = function->module;
    return device_leave(CUDA_SUCCESS);
}

CUresult CUDAAPI cuFuncGetName(const char **name, CUfunction hfunc)
{
    struct CUfunc_st *function;
    CUresult result = enter_function(hfunc, &function);
    if (result != CUDA_SUCCESS)
        return result;
    if (!name)
        return device_leave(CUDA_ERROR_INVALID_VALUE);
    *name = function->ptx->name;
    return device_leave(CUDA_SUCCESS);
}

CUresult CUDAAPI cuFuncGetParamInfo(CUfunction func, size_t paramIndex, size_t *paramOffset,
                                    size_t *paramSize)
{
    struct CUfunc_st *function;
    CUresult result = enter_function(func, &function);
    if (result != CUDA_SUCCESS)
        return result;
    return device_leave(param_info(function->ptx, paramIndex, paramOffset, paramSize));
}

CUresult CUDAAPI cuFuncIsLoaded(CUfunctionLoadingState *state, CUfunction handle)
{
    struct CUfunc_st *function;
    CUresult result = enter_function(handle, &function);
    if (result != CUDA_SUCCESS)
        return result;
    if (!state)
        return device_leave(CUDA_ERROR_INVALID_VALUE);
    *state = CU_FUNCTION_LOADING_STATE_LOADED;
    return device_leave(CUDA_SUCCESS);
}

CUresult CUDAAPI cuFuncLoad(CUfunction handle)
{
    struct CUfunc_st *function;
    CUresult result = enter_function(handle, &function);
    return result == CUDA_SUCCESS ? device_leave(result) : result;
}

/* ---- Kernels ------------------------------------------------------------------------------- */

static CUresult enter_kernel(CUkernel handle, CUdevice dev, struct CUkern_st **kernel)
{
    CUresult result = device_enter();
    if (result != CUDA_SUCCESS)
        return result;
    *kernel = object_find(handle, OBJECT_KERNEL);
    if (!*kernel)
        return device_leave(CUDA_ERROR_INVALID_HANDLE);
    return device_exists(dev) ? CUDA_SUCCESS : device_leave(CUDA_ERROR_INVALID_DEVICE);
}

CUresult CUDAAPI cuKernelGetAttribute(int *pi, CUfunction_attribute attrib, CUkernel handle,
                                      CUdevice dev)
{
    struct CUkern_st *kernel;
    CUresult result = enter_kernel(handle, dev, &kernel);
    if (result != CUDA_SUCCESS)
        return result;
    return device_leave(pi ? get_attribute(pi, attrib, kernel->ptx, &kernel->settings)
                           : CUDA_ERROR_INVALID_VALUE);
}

CUresult CUDAAPI cuKernelSetAttribute(CUfunction_attribute attrib, int val, CUkernel handle,
                                      CUdevice dev)
{
    struct CUkern_st *kernel;
    CUresult result = enter_kernel(handle, dev, &kernel);
    if (result != CUDA_SUCCESS)
        return result;
    return device_leave(set_attribute(&kernel->settings, kernel->ptx, attrib, val));
}

CUresult CUDAAPI cuKernelSetCacheConfig(CUkernel handle, CUfunc_cache config, CUdevice dev)
{
    struct CUkern_st *kernel;
    CUresult result = enter_kernel(handle, dev, &kernel);
    if (result != CUDA_SUCCESS)
        return result;
    return device_leave((unsigned)config <= CU_FUNC_CACHE_PREFER_EQUAL ? CUDA_SUCCESS
                                                                       : CUDA_ERROR_INVALID_VALUE);
}

CUresult CUDAAPI cuKernelGetName(const char **name, CUkernel hfunc)
{
    struct CUkern_st *kernel;
    CUresult result = enter_kernel(hfunc, 0, &kernel);
    if (result != CUDA_SUCCESS)
        return result;
    if (!name)
        return device_leave(CUDA_ERROR_INVALID_VALUE);
    *name = kernel->ptx->name;
    return device_leave(CUDA_SUCCESS);
}

CUresult CUDAAPI cuKernelGetParamInfo(CUkernel handle, size_t paramIndex, size_t *paramOffset,
                                      size_t *paramSize)
{
    struct CUkern_st *kernel;
    CUresult result = enter_kernel(handle, 0, &kernel);
    if (result != CUDA_SUCCESS)
        return result;
    return device_leave(param_info(kernel->ptx, paramIndex, paramOffset, paramSize));
}

/* ---- Occupancy ----------------------------------------------------------------------------- */

enum {
    MULTIPROCESSORS = 132,
    THREADS_PER_MULTIPROCESSOR = 2048,
    BLOCKS_PER_MULTIPROCESSOR = 32,
    SHARED_PER_MULTIPROCESSOR = 228 << 10,
    SHARED_RESERVED_PER_BLOCK = 1 << 10,
    SHARED_GRANULE = 128,
    WARP = 32,
};

static size_t shared_per_block(const struct ptx_function *ptx, size_t dynamic_shared)
{
    size_t bytes = exec_shared_bytes(ptx) + dynamic_shared + SHARED_RESERVED_PER_BLOCK;
    return (bytes + SHARED_GRANULE - 1) / SHARED_GRANULE * SHARED_GRANULE;
}

int function_occupancy(const struct ptx_function *ptx, int block_threads, size_t dynamic_shared)
{
    if (block_threads > (int)function_max_threads(ptx) || dynamic_shared > SHARED_OPTIN_MAX ||
        exec_shared_bytes(ptx) + dynamic_shared > SHARED_OPTIN_MAX)
        return 0;
    int by_threads = THREADS_PER_MULTIPROCESSOR / ((block_threads + WARP - 1) / WARP * WARP);
    int by_shared = (int)(SHARED_PER_MULTIPROCESSOR / shared_per_block(ptx, dynamic_shared));
    int blocks = by_threads < by_shared ? by_threads : by_shared;
    return blocks < BLOCKS_PER_MULTIPROCESSOR ? blocks : BLOCKS_PER_MULTIPROCESSOR;
}

CUresult CUDAAPI cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
    int *numBlocks, CUfunction func, int blockSize, size_t dynamicSMemSize, unsigned int flags)
{
    struct CUfunc_st *function;
    CUresult result = enter_function(func, &function);
    if (result != CUDA_SUCCESS)
        return result;
    if (!numBlocks || blockSize <= 0 || flags & ~(unsigned)CU_OCCUPANCY_DISABLE_CACHING_OVERRIDE)
        return device_leave(CUDA_ERROR_INVALID_VALUE);
    *numBlocks = function_occupancy(function->ptx, blockSize, dynamicSMemSize);
    return device_leave(CUDA_SUCCESS);
}

CUresult CUDAAPI cuOccupancyMaxActiveBlocksPerMultiprocessor(int *numBlocks, CUfunction func,
                                                             int blockSize, size_t dynamicSMemSize)
{
    return cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(numBlocks, func, blockSize,
                                                                dynamicSMemSize, 0);
}

/* The block size with which most threads are resident; of equal ones the larger block. The
 * program's function is called without the lock. */
CUresult CUDAAPI cuOccupancyMaxPotentialBlockSizeWithFlags(
    int *minGridSize, int *blockSize, CUfunction func,
    CUoccupancyB2DSize blockSizeToDynamicSMemSize, size_t dynamicSMemSize, int blockSizeLimit,
    unsigned int flags)
{
    int largest = 0, best_threads = 0;
    if (!minGridSize || !blockSize)
        return CUDA_ERROR_INVALID_VALUE;
    CUresult result = cuFuncGetAttribute(&largest, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, func);
    if (result != CUDA_SUCCESS)
        return result;
    if (blockSizeLimit > 0 && blockSizeLimit < largest)
        largest = blockSizeLimit;
    *minGridSize = *blockSize = 0;
    for (int size = largest; size > 0; size = (size - 1) / WARP * WARP) {
        int blocks = 0;
        size_t shared =
            blockSizeToDynamicSMemSize ? blockSizeToDynamicSMemSize(size) : dynamicSMemSize;
        result = cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(&blocks, func, size, shared,
                                                                      flags);
        if (result != CUDA_SUCCESS)
            return result;
        if (blocks * size > best_threads) {
            best_threads = blocks * size;
            *blockSize = size;
            *minGridSize = blocks * MULTIPROCESSORS;
        }
    }
    return CUDA_SUCCESS;
}

CUresult CUDAAPI cuOccupancyMaxPotentialBlockSize(int *minGridSize, int *blockSize, CUfunction func,
                                                  CUoccupancyB2DSize blockSizeToDynamicSMemSize,
                                                  size_t dynamicSMemSize, int blockSizeLimit)
{
    return cuOccupancyMaxPotentialBlockSizeWithFlags(minGridSize, blockSize, func,
                                                     blockSizeToDynamicSMemSize, dynamicSMemSize,
                                                     blockSizeLimit, 0);
}

CUresult CUDAAPI cuOccupancyAvailableDynamicSMemPerBlock(size_t *dynamicSmemSize, CUfunction func,
                                                         int numBlocks, int blockSize)
{
    struct CUfunc_st *function;
    CUresult result = enter_function(func, &function);
    if (result != CUDA_SUCCESS)
        return result;
    if (!dynamicSmemSize || numBlocks <= 0 || blockSize <= 0)
        return device_leave(CUDA_ERROR_INVALID_VALUE);
    size_t share = SHARED_PER_MULTIPROCESSOR / (size_t)numBlocks / SHARED_GRANULE * SHARED_GRANULE;
    size_t taken = exec_shared_bytes(function->ptx) + SHARED_RESERVED_PER_BLOCK;
    size_t most = SHARED_OPTIN_MAX - exec_shared_bytes(function->ptx);
    if (function_occupancy(function->ptx, blockSize, 0) < numBlocks || share < taken)
        return device_leave(CUDA_ERROR_INVALID_VALUE);
    *dynamicSmemSize = share - taken < most ? share - taken : most;
    return device_leave(CUDA_SUCCESS);
}

CUresult CUDAAPI cuOccupancyMaxPotentialClusterSize(int *clusterSize, CUfunction func,
                                                    const CUlaunchConfig *config)
{
    struct CUfunc_st *function;
    CUresult result = enter_function(func, &function);
    if (result != CUDA_SUCCESS)
        return result;
    if (!clusterSize || !config)
        return device_leave(CUDA_ERROR_INVALID_VALUE);
    *clusterSize =
        function->settings->non_portable_cluster ? 2 * PORTABLE_CLUSTER : PORTABLE_CLUSTER;
    return device_leave(CUDA_SUCCESS);
}

static int cluster_blocks(const CUlaunchConfig *config)
{
    for (unsigned i = 0; config->attrs && i < config->numAttrs; i++)
        if (config->attrs[i].id == CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION)
            return (int)(config->attrs[i].value.clusterDim.x * config->attrs[i].value.clusterDim.y *
                         config->attrs[i].value.clusterDim.z);
    return 1;
}

CUresult CUDAAPI cuOccupancyMaxActiveClusters(int *numClusters, CUfunction func,
                                              const CUlaunchConfig *config)
{
    struct CUfunc_st *function;
    CUresult result = enter_function(func, &function);
    if (result != CUDA_SUCCESS)
        return result;
    if (!numClusters || !config || !config->blockDimX || !config->blockDimY || !config->blockDimZ)
        return device_leave(CUDA_ERROR_INVALID_VALUE);
    int blocks = cluster_blocks(config);
    uint64_t threads = (uint64_t)config->blockDimX * config->blockDimY * config->blockDimZ;
    if (blocks <= 0 || threads > 1024)
        return device_leave(CUDA_ERROR_INVALID_VALUE);
    *numClusters = function_occupancy(function->ptx, (int)threads, config->sharedMemBytes) *
                   MULTIPROCESSORS / blocks;
    return device_leave(CUDA_SUCCESS);
}
