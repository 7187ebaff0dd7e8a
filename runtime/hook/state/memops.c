/* See memops.h. */
#include "runtime/hook/state/memops.h"
#include "runtime/hook/interpose/driver.h"

static struct {
    void *get_flags, *get_attribute;
} memops;

static bool context_waits(void)
{
    unsigned flags = 0;
    PFN_cuCtxGetFlags_v7000 get =
        (PFN_cuCtxGetFlags_v7000)driver_function_cached(&memops.get_flags, "cuCtxGetFlags");
    return get && get(&flags) == CUDA_SUCCESS && flags & CU_CTX_SYNC_MEMOPS;
}

bool memops_wait(uint64_t address)
{
    unsigned on = 0;
    PFN_cuPointerGetAttribute_v4000 get = (PFN_cuPointerGetAttribute_v4000)driver_function_cached(
        &memops.get_attribute, "cuPointerGetAttribute");
    if (context_waits())
        return true;
    return address && get &&
           get(&on, CU_POINTER_ATTRIBUTE_SYNC_MEMOPS, (CUdeviceptr_v2)address) == CUDA_SUCCESS &&
           on;
}
