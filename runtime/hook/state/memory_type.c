/* What kind of memory an address is in. See memory_type.h. */
#include "runtime/hook/state/memory_type.h"
#include "runtime/hook/interpose/driver.h"
#include "runtime/hook/session/session.h"

static struct {
    void *get_attribute;
} place;

void memory_type_symbols_find(void)
{
    driver_function_cached(&place.get_attribute, "cuPointerGetAttribute");
}

static enum memory_type memory_type_by_driver(uint64_t address)
{
    CUmemorytype type = CU_MEMORYTYPE_HOST;
    PFN_cuPointerGetAttribute_v4000 get = (PFN_cuPointerGetAttribute_v4000)driver_function_cached(
        &place.get_attribute, "cuPointerGetAttribute");
    /* An error means: the driver does not know the address, so it is plain host memory. */
    if (!get ||
        get(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, (CUdeviceptr_v2)address) != CUDA_SUCCESS)
        return MEMORY_TYPE_PAGEABLE;
    unsigned managed = 0;
    if (get(&managed, CU_POINTER_ATTRIBUTE_IS_MANAGED, (CUdeviceptr_v2)address) == CUDA_SUCCESS &&
        managed)
        return MEMORY_TYPE_MANAGED;
    return type == CU_MEMORYTYPE_HOST ? MEMORY_TYPE_PINNED : MEMORY_TYPE_DEVICE;
}

enum memory_type memory_type_of(uint64_t address)
{
    enum csan_memory_kind kind;
    if (!csan_memory_find(session_context(), address, NULL, NULL, &kind))
        return memory_type_by_driver(address);
    switch (kind) {
    case CSAN_MEMORY_HOST:
        return MEMORY_TYPE_PINNED;
    case CSAN_MEMORY_MANAGED:
        return MEMORY_TYPE_MANAGED;
    case CSAN_MEMORY_VARIABLE: /* it may be __managed__ */
        return memory_type_by_driver(address);
    default:
        return MEMORY_TYPE_DEVICE;
    }
}

bool memory_type_may_be_constant(uint64_t address, uint64_t bytes)
{
    enum csan_memory_kind kind;
    return bytes <= 64 << 10 && (!csan_memory_find(session_context(), address, NULL, NULL, &kind) ||
                                 kind == CSAN_MEMORY_VARIABLE);
}
