/* PTX from the program. See user_ptx.h. */
#include "runtime/hook/kernel/user_ptx.h"
#include "runtime/hook/kernel/layout.h"
#include "runtime/hook/session/session.h"

#include <stdio.h>

/* Whether the parameters are the function's, as far as the driver knows; else `why`. */
static bool has_its_parameters(const struct ptx_function *ptx, CUfunction handle, char *why,
                               size_t why_bytes)
{
    size_t offset = 0, bytes = 0;
    for (uint32_t i = 0; i < ptx->param_count; i++) {
        const struct ptx_param *param = &ptx->params[i];
        if (layout_ask(handle, i, &offset, &bytes) != CUDA_SUCCESS) {
            if (i == 0) /* it knows none */
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
    if (layout_ask(handle, ptx->param_count, &offset, &bytes) != CUDA_SUCCESS)
        return true;
    snprintf(why, why_bytes, "it has %u parameters, the loaded kernel more", ptx->param_count);
    return false;
}

const struct ptx_function *user_ptx_function(struct image *user_image, CUfunction handle,
                                             const char *name)
{
    char why[200] = "";
    const struct ptx_function *ptx = image_function(user_image, name);
    if (ptx && has_its_parameters(ptx, handle, why, sizeof why))
        return ptx;
    session_note("csan_kernel_ptx: what kernel %s touches stays unknown: the PTX given for it "
                 "cannot be used: %s",
                 name,
                 *why                         ? why
                 : *image_problem(user_image) ? image_problem(user_image)
                                              : "it has no kernel of that name");
    return NULL;
}
