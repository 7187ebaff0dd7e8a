/* How many blocks and clusters of a kernel fit. CUDA Runtime API, "Occupancy". */
#include "runtime/device/cudart/runtime.h"

static cudaError_t find_function(const void *symbol, CUfunction *function)
{
    return cudaGetFuncBySymbol((cudaFunction_t *)function, symbol);
}

API cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
    int *blocks, const void *symbol, int block_size, size_t shared, unsigned int flags)
{
    CUfunction function = NULL;
    cudaError_t error = find_function(symbol, &function);
    return error != cudaSuccess
               ? error
               : error_from(driver.cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags[0](
                     blocks, function, block_size, shared, flags));
}

API cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, const void *symbol,
                                                              int block_size, size_t shared)
{
    return cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(blocks, symbol, block_size,
                                                                  shared, 0);
}

API cudaError_t cudaOccupancyAvailableDynamicSMemPerBlock(size_t *shared, const void *symbol,
                                                          int blocks, int block_size)
{
    CUfunction function = NULL;
    cudaError_t error = find_function(symbol, &function);
    return error != cudaSuccess ? error
                                : error_from(driver.cuOccupancyAvailableDynamicSMemPerBlock[0](
                                      shared, function, blocks, block_size));
}

API cudaError_t cudaOccupancyMaxPotentialClusterSize(int *size, const void *symbol,
                                                     const cudaLaunchConfig_t *config)
{
    CUfunction function = NULL;
    cudaError_t error = find_function(symbol, &function);
    if (error != cudaSuccess || !config)
        return error != cudaSuccess ? error : error_record(cudaErrorInvalidValue);
    CUlaunchConfig same = launch_config(config);
    return error_from(driver.cuOccupancyMaxPotentialClusterSize[0](size, function, &same));
}

API cudaError_t cudaOccupancyMaxActiveClusters(int *clusters, const void *symbol,
                                               const cudaLaunchConfig_t *config)
{
    CUfunction function = NULL;
    cudaError_t error = find_function(symbol, &function);
    if (error != cudaSuccess || !config)
        return error != cudaSuccess ? error : error_record(cudaErrorInvalidValue);
    CUlaunchConfig same = launch_config(config);
    return error_from(driver.cuOccupancyMaxActiveClusters[0](clusters, function, &same));
}
