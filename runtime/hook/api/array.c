/* CUDA arrays and the hooks of their making. See array.h. */
#include "runtime/hook/api/array.h"
#include "driver_hooks.h"
#include "runtime/hook/state/callsite.h"
#include "runtime/hook/session/guard.h"
#include "runtime/hook/state/handle_table.h"
#include "runtime/hook/api/memory.h"
#include "runtime/hook/session/session.h"
#include "runtime/hook/failure/out_of_memory.h"

#include <pthread.h>
#include <stdlib.h>

struct array {
    CUarray handle;
    struct array_range range;
    UT_hash_handle hh;
};

/* Addresses of the upper half: those of user space are below. Each range is used once. */
enum { PAGE = 4096 };
static struct {
    pthread_mutex_t mutex;
    struct array *arrays;
    uint64_t next;
} table = {.mutex = PTHREAD_MUTEX_INITIALIZER, .next = UINT64_C(1) << 63};

static struct array *find(CUarray handle)
{
    struct array *array = NULL;
    HASH_FIND_PTR(table.arrays, &handle, array);
    return array;
}

bool array_find(CUarray handle, struct array_range *range)
{
    pthread_mutex_lock(&table.mutex);
    const struct array *array = find(handle);
    if (array)
        *range = array->range;
    pthread_mutex_unlock(&table.mutex);
    return array != NULL;
}

uint64_t array_channel_bytes(CUarray_format format)
{
    switch (format) {
    case CU_AD_FORMAT_UNSIGNED_INT8:
    case CU_AD_FORMAT_SIGNED_INT8:
        return 1;
    case CU_AD_FORMAT_UNSIGNED_INT16:
    case CU_AD_FORMAT_SIGNED_INT16:
    case CU_AD_FORMAT_HALF:
        return 2;
    case CU_AD_FORMAT_UNSIGNED_INT32:
    case CU_AD_FORMAT_SIGNED_INT32:
    case CU_AD_FORMAT_FLOAT:
        return 4;
    default:
        return 0;
    }
}

static uint64_t at_least_one(uint64_t count)
{
    return count ? count : 1;
}

static void array_drop(struct array *array)
{
    if (!array)
        return;
    HASH_DEL(table.arrays, array);
    free(array);
}

/* A height or depth of 0 is a dimension that there is not. */
static void created(const struct driver_entry *entry, CUarray handle, CUarray_format format,
                    uint64_t channels, uint64_t width, uint64_t height, uint64_t depth)
{
    uint64_t element = array_channel_bytes(format) * channels;
    struct array *array = element ? calloc(1, sizeof *array) : NULL;
    if (!array)
        return;
    struct array_range *range = &array->range;
    array->handle = handle;
    range->element_bytes = element;
    range->pitch = width * element;
    range->plane = range->pitch * at_least_one(height);
    range->bytes = range->plane * at_least_one(depth);
    pthread_mutex_lock(&table.mutex);
    array_drop(find(handle)); /* one whose end was not seen */
    range->base = table.next;
    table.next += (range->bytes + 2 * PAGE - 1) / PAGE * PAGE;
    HASH_ADD_PTR(table.arrays, handle, array);
    struct array_range made = *range;
    pthread_mutex_unlock(&table.mutex);
    csan_memory_create(session_context(), CSAN_MEMORY_DEVICE, made.base, made.bytes, CSAN_HOST,
                       callsite_of_memory(entry->name));
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
    PFN_cuArrayCreate_v3020 real = DRIVER_REAL(entry, cuArrayCreate_v3020);
    if (!guard_enter())
        return real(pHandle, pAllocateArray);
    CUresult result = real(pHandle, pAllocateArray);
    array_ended(entry, result, pAllocateArray->Format, pAllocateArray->NumChannels,
                pAllocateArray->Width, pAllocateArray->Height, 0);
    if (result == CUDA_SUCCESS)
        created(entry, *pHandle, pAllocateArray->Format, pAllocateArray->NumChannels,
                pAllocateArray->Width, pAllocateArray->Height, 0);
    guard_leave();
    return result;
}

CUresult hook_array_create_3d(const struct driver_entry *entry, CUarray *pHandle,
                              const CUDA_ARRAY3D_DESCRIPTOR_v2 *pAllocateArray)
{
    PFN_cuArray3DCreate_v3020 real = DRIVER_REAL(entry, cuArray3DCreate_v3020);
    if (!guard_enter())
        return real(pHandle, pAllocateArray);
    CUresult result = real(pHandle, pAllocateArray);
    array_ended(entry, result, pAllocateArray->Format, pAllocateArray->NumChannels,
                pAllocateArray->Width, pAllocateArray->Height, pAllocateArray->Depth);
    if (result == CUDA_SUCCESS)
        created(entry, *pHandle, pAllocateArray->Format, pAllocateArray->NumChannels,
                pAllocateArray->Width, pAllocateArray->Height, pAllocateArray->Depth);
    guard_leave();
    return result;
}

/* As cuMemFree. */
CUresult hook_array_destroy(const struct driver_entry *entry, CUarray hArray)
{
    PFN_cuArrayDestroy_v2000 real = DRIVER_REAL(entry, cuArrayDestroy_v2000);
    struct array_range range = {0};
    if (!guard_enter())
        return real(hArray);
    bool known = array_find(hArray, &range);
    struct memory_death death = memory_death_begin(entry, WAIT_FREE_ARRAY, known ? range.base : 0);
    CUresult result = real(hArray);
    memory_death_end(entry, &death, range.base, result);
    if (known && result == CUDA_SUCCESS) {
        pthread_mutex_lock(&table.mutex);
        struct array *array = find(hArray);
        if (array && array->range.base == range.base)
            array_drop(array);
        pthread_mutex_unlock(&table.mutex);
    }
    guard_leave();
    return result;
}
