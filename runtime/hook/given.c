/* PTX given by the program. See given.h. */
#include "runtime/hook/given.h"
#include "runtime/hook/process.h"

#include <stdio.h>

static struct {
    void *func_param_info, *kernel_param_info;
} table;

void given_symbols_find(void)
{
    driver_function_cached(&table.func_param_info, "cuFuncGetParamInfo");
    driver_function_cached(&table.kernel_param_info, "cuKernelGetParamInfo");
}

/* Where the driver has the parameter: drivers before 12.4 do not say. The handle may be of either
 * kind, as with names. */
static CUresult parameter_place(CUfunction handle, size_t index, size_t *offset, size_t *bytes)
{
    PFN_cuFuncGetParamInfo_v12040 of_function =
        (PFN_cuFuncGetParamInfo_v12040)__atomic_load_n(&table.func_param_info, __ATOMIC_ACQUIRE);
    PFN_cuKernelGetParamInfo_v12040 of_kernel = (PFN_cuKernelGetParamInfo_v12040)__atomic_load_n(
        &table.kernel_param_info, __ATOMIC_ACQUIRE);
    CUresult result =
        of_function ? of_function(handle, index, offset, bytes) : CUDA_ERROR_NOT_FOUND;
    if (result != CUDA_SUCCESS && of_kernel)
        result = of_kernel((CUkernel)handle, index, offset, bytes);
    return result;
}

/* Whether the parameters are the function's, as far as the driver tells; else `why`. */
static bool has_its_parameters(const struct ptx_function *ptx, CUfunction handle, char *why,
                               size_t why_bytes)
{
    size_t offset = 0, bytes = 0;
    for (uint32_t i = 0; i < ptx->param_count; i++) {
        const struct ptx_param *param = &ptx->params[i];
        if (parameter_place(handle, i, &offset, &bytes) != CUDA_SUCCESS) {
            if (i == 0) /* it tells of none */
                return true;
            snprintf(why, why_bytes, "it has %u parameters, the loaded kernel %u", ptx->param_count,
                     i);
            return false;
        }
        if (offset != param->offset || bytes != param->size) {
            snprintf(why, why_bytes,
                     "its parameter %u is bytes %u..%u, that of the loaded kernel %zu..%zu", i,
                     param->offset, param->offset + param->size, offset, offset + bytes);
            return false;
        }
    }
    if (parameter_place(handle, ptx->param_count, &offset, &bytes) != CUDA_SUCCESS)
        return true;
    snprintf(why, why_bytes, "it has %u parameters, the loaded kernel more", ptx->param_count);
    return false;
}

const struct ptx_function *given_function(struct image *given, CUfunction handle, const char *name)
{
    char why[200] = "";
    const struct ptx_function *ptx = image_function(given, name);
    if (ptx && has_its_parameters(ptx, handle, why, sizeof why))
        return ptx;
    process_note("csan_kernel_ptx: what kernel %s touches stays unknown: the PTX given for it "
                 "cannot be used: %s",
                 name,
                 *why                    ? why
                 : *image_problem(given) ? image_problem(given)
                                         : "it has no kernel of that name");
    return NULL;
}
