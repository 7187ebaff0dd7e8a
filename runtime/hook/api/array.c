/* The hooks of arrays: births and deaths. */
#include "runtime/hook/state/array_table.h"
#include "driver_hooks.h"
#include "runtime/hook/state/callsite.h"
#include "runtime/hook/api/memory.h"
#include "runtime/hook/session/session.h"
#include "runtime/hook/failure/out_of_memory.h"

static uint64_t at_least_one(uint64_t count)
{
    return count ? count : 1;
}

/* A height or depth of 0 is a dimension that there is not. */
static void created(const struct driver_entry *entry, CUarray handle, CUarray_format format,
                    uint64_t channels, uint64_t width, uint64_t height, uint64_t depth)
{
    struct array_range range = {.element_bytes = array_channel_bytes(format) * channels};
    range.pitch = width * range.element_bytes;
    range.plane = range.pitch * at_least_one(height);
    range.bytes = range.plane * at_least_one(depth);
    if (range.element_bytes && array_made(handle, &range))
        csan_memory_create(session_context(), CSAN_MEMORY_DEVICE, range.base, range.bytes,
                           CSAN_HOST, callsite_of_memory(entry->name));
}

/* Compressed formats are not known, and take no room here. */
static void array_ended(const struct driver_entry *entry, CUresult result, CUarray_format format,
                        uint64_t channels, uint64_t width, uint64_t height, uint64_t depth)
{
    out_of_memory_ended(entry, result,
                        array_channel_bytes(format) * channels * width * at_least_one(height) *
                            at_least_one(depth),
                        OUT_OF_MEMORY_DEVICE);
}

CUresult hook_array_create(const struct driver_entry *entry, CUarray *pHandle,
                           const CUDA_ARRAY_DESCRIPTOR_v2 *pAllocateArray)
{
    CUresult result = DRIVER_REAL(entry, cuArrayCreate_v3020)(pHandle, pAllocateArray);
    array_ended(entry, result, pAllocateArray->Format, pAllocateArray->NumChannels,
                pAllocateArray->Width, pAllocateArray->Height, 0);
    if (result == CUDA_SUCCESS)
        created(entry, *pHandle, pAllocateArray->Format, pAllocateArray->NumChannels,
                pAllocateArray->Width, pAllocateArray->Height, 0);
    return result;
}

CUresult hook_array_create_3d(const struct driver_entry *entry, CUarray *pHandle,
                              const CUDA_ARRAY3D_DESCRIPTOR_v2 *pAllocateArray)
{
    CUresult result = DRIVER_REAL(entry, cuArray3DCreate_v3020)(pHandle, pAllocateArray);
    array_ended(entry, result, pAllocateArray->Format, pAllocateArray->NumChannels,
                pAllocateArray->Width, pAllocateArray->Height, pAllocateArray->Depth);
    if (result == CUDA_SUCCESS)
        created(entry, *pHandle, pAllocateArray->Format, pAllocateArray->NumChannels,
                pAllocateArray->Width, pAllocateArray->Height, pAllocateArray->Depth);
    return result;
}

/* As cuMemFree. */
CUresult hook_array_destroy(const struct driver_entry *entry, CUarray hArray)
{
    struct array_range range = {0};
    bool known = array_find(hArray, &range);
    struct memory_death death = memory_death_begin(entry, WAIT_FREE_ARRAY, known ? range.base : 0);
    CUresult result = DRIVER_REAL(entry, cuArrayDestroy_v2000)(hArray);
    memory_death_end(entry, &death, range.base, result);
    if (known && result == CUDA_SUCCESS)
        array_gone(hArray, range.base);
    return result;
}
