/* Launches as they were before CUDA 4: a function keeps its block's shape, its dynamic shared
 * memory and its parameters, one call each (cuFuncSet*, cuParamSet*), until cuLaunch and its kin
 * run it as it is then. Programs older than cuLaunchKernel, and bindings that set a shape in any
 * case. The driver API calls all of them deprecated; what is set is lost with the module. */
#include "runtime/device/module/module.h"

#include <stdlib.h>
#include <string.h>

enum { PARAM_BYTES_MAX = 4096 };

struct function_state {
    unsigned block[3];
    unsigned shared_bytes;
    size_t param_bytes;
    char params[PARAM_BYTES_MAX];
};

/* The function's state, with the device's lock held; NULL says why in *result. */
static struct function_state *enter_state(CUfunction handle, CUresult *result)
{
    struct CUctx_st *context;
    struct CUfunc_st *function;
    *result = device_enter_context(&context);
    if (*result != CUDA_SUCCESS)
        return NULL;
    *result = function_resolve(handle, context, &function);
    if (*result == CUDA_SUCCESS && !function->state) {
        function->state = calloc(1, sizeof *function->state);
        *result = function->state ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
    }
    if (*result != CUDA_SUCCESS) {
        device_leave(*result);
        return NULL;
    }
    return function->state;
}

CUresult CUDAAPI cuFuncSetBlockShape(CUfunction hfunc, int x, int y, int z)
{
    CUresult result;
    struct function_state *state = enter_state(hfunc, &result);
    if (!state)
        return result;
    if (x <= 0 || y <= 0 || z <= 0)
        return device_leave(CUDA_ERROR_INVALID_VALUE);
    state->block[0] = (unsigned)x;
    state->block[1] = (unsigned)y;
    state->block[2] = (unsigned)z;
    return device_leave(CUDA_SUCCESS);
}

CUresult CUDAAPI cuFuncSetSharedSize(CUfunction hfunc, unsigned int bytes)
{
    CUresult result;
    struct function_state *state = enter_state(hfunc, &result);
    if (!state)
        return result;
    state->shared_bytes = bytes;
    return device_leave(CUDA_SUCCESS);
}

CUresult CUDAAPI cuParamSetSize(CUfunction hfunc, unsigned int numbytes)
{
    CUresult result;
    struct function_state *state = enter_state(hfunc, &result);
    if (!state)
        return result;
    if (numbytes > PARAM_BYTES_MAX)
        return device_leave(CUDA_ERROR_INVALID_VALUE);
    state->param_bytes = numbytes;
    return device_leave(CUDA_SUCCESS);
}

static CUresult set_params(CUfunction hfunc, int offset, const void *ptr, unsigned numbytes)
{
    CUresult result;
    struct function_state *state = enter_state(hfunc, &result);
    if (!state)
        return result;
    if (offset < 0 || (!ptr && numbytes) || numbytes > PARAM_BYTES_MAX ||
        (unsigned)offset > PARAM_BYTES_MAX - numbytes)
        return device_leave(CUDA_ERROR_INVALID_VALUE);
    if (numbytes)
        memcpy(state->params + offset, ptr, numbytes);
    return device_leave(CUDA_SUCCESS);
}

CUresult CUDAAPI cuParamSetv(CUfunction hfunc, int offset, void *ptr, unsigned int numbytes)
{
    return set_params(hfunc, offset, ptr, numbytes);
}

CUresult CUDAAPI cuParamSeti(CUfunction hfunc, int offset, unsigned int value)
{
    return set_params(hfunc, offset, &value, sizeof value);
}

CUresult CUDAAPI cuParamSetf(CUfunction hfunc, int offset, float value)
{
    return set_params(hfunc, offset, &value, sizeof value);
}

static CUresult launch_state(CUfunction f, int width, int height, CUstream stream)
{
    CUresult result;
    struct function_state *kept = enter_state(f, &result);
    if (!kept)
        return result;
    struct function_state state = *kept;
    device_leave(CUDA_SUCCESS);
    if (width <= 0 || height <= 0)
        return CUDA_ERROR_INVALID_VALUE;
    void *buffer[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, state.params, CU_LAUNCH_PARAM_BUFFER_SIZE,
                      &state.param_bytes, CU_LAUNCH_PARAM_END};
    const struct launch_shape shape = {.grid = {(unsigned)width, (unsigned)height, 1},
                                       .block = {state.block[0], state.block[1], state.block[2]},
                                       .shared_bytes = state.shared_bytes};
    return launch_buffer(f, &shape, stream, buffer);
}

CUresult CUDAAPI cuLaunch(CUfunction f)
{
    return launch_state(f, 1, 1, NULL);
}

CUresult CUDAAPI cuLaunchGrid(CUfunction f, int grid_width, int grid_height)
{
    return launch_state(f, grid_width, grid_height, NULL);
}

CUresult CUDAAPI cuLaunchGridAsync(CUfunction f, int grid_width, int grid_height, CUstream hStream)
{
    return launch_state(f, grid_width, grid_height, hStream);
}
