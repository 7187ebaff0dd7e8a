/* See launch_request.h. */
#include "runtime/device/driver/launch_request.h"

#include <string.h>

enum {
    MAX_BLOCK_THREADS = 1024,
    MAX_BLOCK_Z = 64,
    MAX_GRID_YZ = 65535,
    MULTIPROCESSORS = 132,
    MAX_CLUSTER = 16,
};

static CUresult check_block(const struct launch_request *request, const struct ptx_function *ptx)
{
    const uint32_t *block = request->block, *required = ptx->reqntid;
    uint64_t threads = (uint64_t)block[0] * block[1] * block[2];
    if (!threads || block[0] > MAX_BLOCK_THREADS || block[1] > MAX_BLOCK_THREADS ||
        block[2] > MAX_BLOCK_Z || threads > MAX_BLOCK_THREADS)
        return CUDA_ERROR_INVALID_VALUE;
    for (int i = 0; required[0] && i < 3; i++)
        if (block[i] != (required[i] ? required[i] : 1))
            return CUDA_ERROR_INVALID_VALUE;
    /* PTX .maxntid: "exceeding the maximum number of threads results in a runtime error or kernel
     * launch failure". The driver takes it for a wrong argument, not for a lack of registers. */
    return threads <= function_max_threads(ptx) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

static CUresult check_grid(const struct launch_request *request)
{
    const uint32_t *grid = request->grid, *cluster = request->cluster;
    uint64_t size = 1;
    if (!grid[0] || !grid[1] || !grid[2] || grid[0] > INT32_MAX || grid[1] > MAX_GRID_YZ ||
        grid[2] > MAX_GRID_YZ)
        return CUDA_ERROR_INVALID_VALUE;
    for (int i = 0; cluster[0] && i < 3; i++) {
        if (!cluster[i] || grid[i] % cluster[i])
            return CUDA_ERROR_INVALID_CLUSTER_SIZE;
        size *= cluster[i];
    }
    return size <= MAX_CLUSTER ? CUDA_SUCCESS : CUDA_ERROR_INVALID_CLUSTER_SIZE;
}

static CUresult check_cooperative(const struct launch_request *request,
                                  const struct ptx_function *ptx)
{
    uint64_t blocks = (uint64_t)request->grid[0] * request->grid[1] * request->grid[2];
    uint32_t threads = request->block[0] * request->block[1] * request->block[2];
    uint64_t most =
        (uint64_t)function_occupancy(ptx, (int)threads, request->dynamic_shared) * MULTIPROCESSORS;
    return blocks <= most ? CUDA_SUCCESS : CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE;
}

/* A cluster shape fixed in the code (PTX .reqnctapercluster), or by attribute, when the launch
 * names none. */
static void choose_cluster(struct launch_request *request, const struct CUfunc_st *function)
{
    const uint32_t *fixed = function->ptx->required_cluster;
    if (!fixed[0])
        fixed = function->settings->cluster;
    if (request->cluster[0] || !fixed[0])
        return;
    for (int i = 0; i < 3; i++)
        request->cluster[i] = fixed[i] ? fixed[i] : 1;
}

CUresult launch_request_check(struct launch_request *request, const struct CUfunc_st *function)
{
    choose_cluster(request, function);
    CUresult result = check_block(request, function->ptx);
    if (result == CUDA_SUCCESS)
        result = check_grid(request);
    if (result == CUDA_SUCCESS &&
        request->dynamic_shared > (uint64_t)function->settings->dynamic_shared_limit)
        result = CUDA_ERROR_INVALID_VALUE;
    if (result == CUDA_SUCCESS && request->cooperative)
        result = check_cooperative(request, function->ptx);
    return result;
}

/* ---- Parameters ---------------------------------------------------------------------------- */

/* "extra": {CU_LAUNCH_PARAM_BUFFER_POINTER, buffer, CU_LAUNCH_PARAM_BUFFER_SIZE, &bytes, END} */
static CUresult copy_extra(const struct ptx_function *ptx, void **extra, void *target)
{
    const void *buffer = NULL;
    size_t bytes = 0;
    for (; *extra != CU_LAUNCH_PARAM_END; extra += 2) {
        if (*extra == CU_LAUNCH_PARAM_BUFFER_POINTER)
            buffer = extra[1];
        else if (*extra == CU_LAUNCH_PARAM_BUFFER_SIZE && extra[1])
            bytes = *(size_t *)extra[1];
        else
            return CUDA_ERROR_INVALID_VALUE;
    }
    if (ptx->param_bytes && (!buffer || bytes < ptx->param_bytes))
        return CUDA_ERROR_INVALID_VALUE;
    if (ptx->param_bytes)
        memcpy(target, buffer, ptx->param_bytes);
    return CUDA_SUCCESS;
}

CUresult launch_request_params(const struct launch_request *request, const struct ptx_function *ptx,
                               void *target)
{
    if (request->params && request->extra)
        return CUDA_ERROR_INVALID_VALUE;
    if (request->extra)
        return copy_extra(ptx, request->extra, target);
    for (uint32_t i = 0; i < ptx->param_count; i++) {
        const struct ptx_param *param = &ptx->params[i];
        if (!request->params || !request->params[i])
            return CUDA_ERROR_INVALID_VALUE;
        memcpy((char *)target + param->offset, request->params[i], param->size);
    }
    return CUDA_SUCCESS;
}
