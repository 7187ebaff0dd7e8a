/* Kernel launches: nvcc's <<<...>>> and the launch functions, and host functions. CUDA Runtime API,
 * "Execution Control". */
#include "runtime/device/cudart/runtime.h"

/* <<<...>>> pushes the configuration; the kernel's host stub pops it. One launch may be nested in
 * the arguments of another. */
enum { CONFIGURATIONS = 16 };
static __thread struct {
    unsigned depth;
    struct {
        dim3 grid, block;
        size_t shared;
        cudaStream_t stream;
    } stack[CONFIGURATIONS];
    cudaError_t kernel_error; /* why __cudaGetKernel failed last: the launch that follows says it */
} thread;

API unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block, size_t shared,
                                         struct CUstream_st *stream);
API unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block, size_t shared,
                                         struct CUstream_st *stream)
{
    if (thread.depth == CONFIGURATIONS)
        return (unsigned)error_record(cudaErrorMissingConfiguration);
    thread.stack[thread.depth].grid = grid;
    thread.stack[thread.depth].block = block;
    thread.stack[thread.depth].shared = shared;
    thread.stack[thread.depth].stream = stream;
    thread.depth++;
    return 0;
}

API cudaError_t __cudaPopCallConfiguration(dim3 *grid, dim3 *block, size_t *shared, void *stream);
API cudaError_t __cudaPopCallConfiguration(dim3 *grid, dim3 *block, size_t *shared, void *stream)
{
    if (thread.depth == 0)
        return error_record(cudaErrorMissingConfiguration);
    thread.depth--;
    *grid = thread.stack[thread.depth].grid;
    *block = thread.stack[thread.depth].block;
    *shared = thread.stack[thread.depth].shared;
    *(cudaStream_t *)stream = thread.stack[thread.depth].stream;
    return cudaSuccess;
}

/* ---- Launches ---- */

static bool exceeds(unsigned value, CUdevice_attribute limit, CUdevice device)
{
    int most = 0;
    return value == 0 || (driver.cuDeviceGetAttribute[0](&most, limit, device) == CUDA_SUCCESS &&
                          value > (unsigned)most);
}

/* The driver calls a grid the device cannot run an invalid value, the runtime an invalid
 * configuration. */
static cudaError_t launched(CUresult result, dim3 grid, dim3 block)
{
    if (result != CUDA_ERROR_INVALID_VALUE)
        return error_from(result);
    CUdevice device = runtime_device();
    uint64_t threads = (uint64_t)block.x * block.y * block.z;
    if (exceeds(grid.x, CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X, device) ||
        exceeds(grid.y, CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y, device) ||
        exceeds(grid.z, CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z, device) ||
        exceeds(block.x, CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X, device) ||
        exceeds(block.y, CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y, device) ||
        exceeds(block.z, CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z, device) ||
        exceeds(threads > UINT32_MAX ? UINT32_MAX : (unsigned)threads,
                CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK, device))
        return error_record(cudaErrorInvalidConfiguration);
    return error_record(cudaErrorInvalidValue);
}

static cudaError_t launch_handle(enum flavor flavor, CUkernel kernel, dim3 grid, dim3 block,
                                 void **arguments, size_t shared, cudaStream_t stream)
{
    if (shared > UINT32_MAX)
        return error_record(cudaErrorInvalidValue);
    CUresult result =
        driver.cuLaunchKernel[flavor]((CUfunction)kernel, grid.x, grid.y, grid.z, block.x, block.y,
                                      block.z, (unsigned)shared, stream, arguments, NULL);
    return launched(result, grid, block);
}

static cudaError_t launch_kernel(enum flavor flavor, cudaKernel_t kernel, dim3 grid, dim3 block,
                                 void **arguments, size_t shared, cudaStream_t stream)
{
    ENTER();
    if (!kernel) /* __cudaGetKernel failed: once, and perhaps in another thread */
        return error_record(thread.kernel_error ? thread.kernel_error
                                                : cudaErrorInvalidDeviceFunction);
    return launch_handle(flavor, (CUkernel)kernel, grid, block, arguments, shared, stream);
}

static cudaError_t launch(enum flavor flavor, const void *function, dim3 grid, dim3 block,
                          void **arguments, size_t shared, cudaStream_t stream)
{
    CUkernel kernel = NULL;
    ENTER();
    cudaError_t error = registry_kernel(function, &kernel);
    return error != cudaSuccess
               ? error
               : launch_handle(flavor, kernel, grid, block, arguments, shared, stream);
}

static cudaError_t launch_cooperative(enum flavor flavor, const void *function, dim3 grid,
                                      dim3 block, void **arguments, size_t shared,
                                      cudaStream_t stream)
{
    CUkernel kernel = NULL;
    ENTER();
    cudaError_t error = registry_kernel(function, &kernel);
    if (error != cudaSuccess)
        return error;
    CUresult result = driver.cuLaunchCooperativeKernel[flavor]((CUfunction)kernel, grid.x, grid.y,
                                                               grid.z, block.x, block.y, block.z,
                                                               (unsigned)shared, stream, arguments);
    return launched(result, grid, block);
}

CUlaunchConfig launch_config(const cudaLaunchConfig_t *config)
{
    return (CUlaunchConfig){.gridDimX = config->gridDim.x,
                            .gridDimY = config->gridDim.y,
                            .gridDimZ = config->gridDim.z,
                            .blockDimX = config->blockDim.x,
                            .blockDimY = config->blockDim.y,
                            .blockDimZ = config->blockDim.z,
                            .sharedMemBytes = (unsigned)config->dynamicSmemBytes,
                            .hStream = config->stream,
                            .attrs = (CUlaunchAttribute *)config->attrs, /* the same type */
                            .numAttrs = config->numAttrs};
}

_Static_assert(sizeof(CUlaunchAttribute) == sizeof(cudaLaunchAttribute),
               "the driver and the runtime describe a launch attribute alike");

static cudaError_t launch_extended(enum flavor flavor, const cudaLaunchConfig_t *config,
                                   const void *function, void **arguments)
{
    CUkernel kernel = NULL;
    ENTER();
    if (!config)
        return error_record(cudaErrorInvalidValue);
    cudaError_t error = registry_kernel(function, &kernel);
    if (error != cudaSuccess)
        return error;
    CUlaunchConfig same = launch_config(config);
    CUresult result = driver.cuLaunchKernelEx[flavor](&same, (CUfunction)kernel, arguments, NULL);
    return launched(result, config->gridDim, config->blockDim);
}

API cudaError_t __cudaGetKernel(cudaKernel_t *kernel, const void *function);
API cudaError_t __cudaGetKernel(cudaKernel_t *kernel, const void *function)
{
    thread.kernel_error = cudaGetKernel(kernel, function);
    return thread.kernel_error;
}

API cudaError_t __cudaLaunchKernel(cudaKernel_t kernel, dim3 grid, dim3 block, void **arguments,
                                   size_t shared, cudaStream_t stream);
BOTH(__cudaLaunchKernel, _ptsz, launch_kernel,
     (cudaKernel_t kernel, dim3 grid, dim3 block, void **arguments, size_t shared,
      cudaStream_t stream),
     kernel, grid, block, arguments, shared, stream)
BOTH(cudaLaunchKernel, _ptsz, launch,
     (const void *function, dim3 grid, dim3 block, void **arguments, size_t shared,
      cudaStream_t stream),
     function, grid, block, arguments, shared, stream)
BOTH(cudaLaunchCooperativeKernel, _ptsz, launch_cooperative,
     (const void *function, dim3 grid, dim3 block, void **arguments, size_t shared,
      cudaStream_t stream),
     function, grid, block, arguments, shared, stream)
BOTH(cudaLaunchKernelExC, _ptsz, launch_extended,
     (const cudaLaunchConfig_t *config, const void *function, void **arguments), config, function,
     arguments)

static cudaError_t launch_host(enum flavor flavor, cudaStream_t stream, cudaHostFn_t function,
                               void *user)
{
    ENTER();
    return error_from(driver.cuLaunchHostFunc[flavor](stream, function, user));
}
BOTH(cudaLaunchHostFunc, _ptsz, launch_host,
     (cudaStream_t stream, cudaHostFn_t function, void *user), stream, function, user)

/* CUDA 13.2. Whether the driver's thread sleeps (0) or spins (1) makes no difference here. */
static cudaError_t launch_host_with_mode(enum flavor flavor, cudaStream_t stream,
                                         cudaHostFn_t function, void *user, unsigned mode)
{
    ENTER();
    return mode > 1 ? error_from(CUDA_ERROR_INVALID_VALUE)
                    : launch_host(flavor, stream, function, user);
}
BOTH(cudaLaunchHostFunc_v2, _ptsz, launch_host_with_mode,
     (cudaStream_t stream, cudaHostFn_t function, void *user, unsigned mode), stream, function,
     user, mode)
