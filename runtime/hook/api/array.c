/* The hooks of arrays: births and deaths. */
#include "runtime/hook/state/array_table.h"
#include "driver_hooks.h"
#include "runtime/hook/state/callsite.h"
#include "runtime/hook/api/memory.h"
#include "runtime/hook/session/guard.h"
#include "runtime/hook/session/recorded_device.h"
#include "runtime/hook/session/recorded_wait.h"
#include "runtime/hook/session/session.h"
#include "runtime/hook/failure/out_of_memory.h"
#include "runtime/hook/state/stream.h"
#include "runtime/trace/array_layout.h"

static uint64_t at_least_one(uint64_t count)
{
    return count ? count : 1;
}

/* A height or depth of 0 is a dimension that there is not. */
static struct array_range range_of(CUarray_format format, uint64_t channels, uint64_t width,
                                   uint64_t height, uint64_t depth)
{
    struct array_range range = {.element_bytes = array_channel_bytes(format) * channels};
    range.pitch = width * range.element_bytes;
    range.plane = range.pitch * at_least_one(height);
    range.bytes = range.plane * at_least_one(depth);
    return range;
}

/* Where the embedded device has it. */
static void take_layout(const void *handle, struct array_range *range)
{
    static void *layout_of;
    struct device_array_layout layout;
    device_array_layout_function *ask;
    *(void **)&ask = driver_function_cached(&layout_of, "device_array_layout");
    if (!ask || !ask(handle, &layout))
        return;
    range->base = layout.base;
    range->pitch = layout.pitch;
    range->plane = layout.slice;
    range->bytes = layout.bytes;
}

static void keep(const struct driver_entry *entry, const void *handle, struct array_range *range)
{
    if (!range->element_bytes)
        return;
    take_layout(handle, range);
    if (!array_made(handle, range))
        return;
    if (recorded_wait_wanted()) {
        const CUcontext context = stream_current_context();
        guard_lock();
        recorded_device_host(context);
        guard_unlock();
    }
    csan_memory_create(session_context(), CSAN_MEMORY_DEVICE, range->base, range->bytes, CSAN_HOST,
                       callsite_of_memory(entry->name));
}

static void created(const struct driver_entry *entry, CUarray handle, CUarray_format format,
                    uint64_t channels, uint64_t width, uint64_t height, uint64_t depth)
{
    struct array_range range = range_of(format, channels, width, height, depth);
    keep(entry, handle, &range);
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

/* ---- Mipmapped arrays ---- */

static const unsigned layered = CUDA_ARRAY3D_LAYERED | CUDA_ARRAY3D_CUBEMAP;

static uint64_t halved(uint64_t count, unsigned level)
{
    return count && !(count >> level) ? 1 : count >> level;
}

/* Layers and faces are as many in each level. */
static struct array_range range_of_level(const CUDA_ARRAY3D_DESCRIPTOR_v2 *shape, unsigned level)
{
    return range_of(shape->Format, shape->NumChannels, halved(shape->Width, level),
                    halved(shape->Height, level),
                    shape->Flags & layered ? shape->Depth : halved(shape->Depth, level));
}

/* Levels lie one behind the other. */
static uint64_t bytes_before(const CUDA_ARRAY3D_DESCRIPTOR_v2 *shape, unsigned level)
{
    uint64_t bytes = 0;
    for (unsigned i = 0; i < level; i++)
        bytes += range_of_level(shape, i).bytes;
    return bytes;
}

CUresult hook_mipmapped_array_create(const struct driver_entry *entry, CUmipmappedArray *pHandle,
                                     const CUDA_ARRAY3D_DESCRIPTOR_v2 *pMipmappedArrayDesc,
                                     unsigned int numMipmapLevels)
{
    CUresult result = DRIVER_REAL(entry, cuMipmappedArrayCreate_v5000)(pHandle, pMipmappedArrayDesc,
                                                                       numMipmapLevels);
    struct array_range range = {0};
    if (result == CUDA_SUCCESS) {
        range.element_bytes = range_of_level(pMipmappedArrayDesc, 0).element_bytes;
        range.bytes = bytes_before(pMipmappedArrayDesc, numMipmapLevels);
        keep(entry, *pHandle, &range);
    }
    return result;
}

/* The shape of all levels follows from the first one's, which the driver describes. */
CUresult hook_mipmapped_array_level(const struct driver_entry *entry, CUarray *pLevelArray,
                                    CUmipmappedArray hMipmappedArray, unsigned int level)
{
    static void *describe;
    PFN_cuArray3DGetDescriptor_v3020 ask;
    CUDA_ARRAY3D_DESCRIPTOR_v2 first;
    CUarray top;
    struct array_range all, range;
    CUresult result =
        DRIVER_REAL(entry, cuMipmappedArrayGetLevel_v5000)(pLevelArray, hMipmappedArray, level);
    *(void **)&ask = driver_function_cached(&describe, "cuArray3DGetDescriptor_v2");
    if (result != CUDA_SUCCESS || !array_find(hMipmappedArray, &all) || !ask ||
        DRIVER_REAL(entry, cuMipmappedArrayGetLevel_v5000)(&top, hMipmappedArray, 0) !=
            CUDA_SUCCESS ||
        ask(&first, top) != CUDA_SUCCESS)
        return result;
    range = range_of_level(&first, level);
    range.base = all.base + bytes_before(&first, level);
    take_layout(*pLevelArray, &range);
    array_made(*pLevelArray, &range);
    return result;
}

CUresult hook_mipmapped_array_destroy(const struct driver_entry *entry,
                                      CUmipmappedArray hMipmappedArray)
{
    struct array_range range = {0};
    bool known = array_find(hMipmappedArray, &range);
    struct memory_death death = memory_death_begin(entry, WAIT_FREE_ARRAY, known ? range.base : 0);
    CUresult result = DRIVER_REAL(entry, cuMipmappedArrayDestroy_v5000)(hMipmappedArray);
    memory_death_end(entry, &death, range.base, result);
    if (known && result == CUDA_SUCCESS)
        array_levels_gone(&range);
    return result;
}
