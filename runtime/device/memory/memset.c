/* Sets: cuMemset*, linear and 2D, as items of a stream.
 *
 * A synchronous set waits for no earlier work. It waits for itself if the memory is pinned or
 * managed (CUDA Driver API, API synchronization behavior). */
#include "runtime/device/memory/copy_operand.h"

#include <stdlib.h>
#include <string.h>

struct set_item {
    struct item item;
    struct copy_operand to;
    struct extent extent;
    uint32_t value;
    unsigned element; /* bytes: 1, 2, 4 */
};

/* The device's stores, not this library's: a program may be looking at the same memory on purpose,
 * as a real device's memory is looked at. */
__attribute__((no_sanitize("thread"))) static void set_row(void *row, uint32_t value,
                                                           unsigned element, size_t bytes)
{
    if (element == 1) {
        memset(row, (int)value, bytes);
        return;
    }
    for (size_t i = 0; i < bytes; i += element) {
        if (element == 2)
            *(uint16_t *)((char *)row + i) = (uint16_t)value;
        else
            *(uint32_t *)((char *)row + i) = value;
    }
}

static enum step set_step(struct item *item)
{
    struct set_item *set = (struct set_item *)item;
    for (size_t y = 0; y < set->extent.height; y++)
        set_row(memory_pointer(set->to.address + y * set->to.pitch), set->value, set->element,
                set->extent.width);
    return STEP_DONE;
}

static void set_discard(struct item *item)
{
    free(item);
}

static struct item *set_again(const struct item *item);

static struct set_item *set_create(const struct copy_operand *to, const struct extent *extent,
                                   uint32_t value, unsigned element)
{
    struct set_item *set = calloc(1, sizeof *set);
    if (!set)
        return NULL;
    set->item.step = set_step;
    set->item.discard = set_discard;
    set->item.again = set_again;
    set->to = *to;
    set->extent = *extent;
    set->value = value;
    set->element = element;
    return set;
}

static struct item *set_again(const struct item *item)
{
    const struct set_item *set = (const struct set_item *)item;
    struct set_item *fresh = set_create(&set->to, &set->extent, set->value, set->element);
    return fresh ? &fresh->item : NULL;
}

/* `width` in elements. */
static bool set_is_valid(struct copy_operand *to, unsigned element, size_t width, size_t height,
                         struct extent *extent)
{
    *extent = (struct extent){0, height, 1};
    return !__builtin_mul_overflow(width, element, &extent->width) && !(to->address % element) &&
           (height == 1 || !(to->pitch % element)) && copy_operand_is_valid(to, extent) &&
           !copy_operand_is_pageable(to);
}

static CUresult set(CUdeviceptr address, size_t pitch, uint32_t value, unsigned element,
                    size_t width, size_t height, CUstream handle, bool per_thread, bool synchronous)
{
    struct CUstream_st *stream;
    CUresult result = stream_enter(handle, per_thread, &stream);
    if (result != CUDA_SUCCESS)
        return result;
    if ((result = synchronous ? capture_admits_beside(stream) : capture_admits(stream)) !=
        CUDA_SUCCESS)
        return device_leave(result);
    if (!width || !height)
        return device_leave(CUDA_SUCCESS);
    struct copy_operand to = {.address = address, .pitch = pitch};
    struct extent extent;
    if (!set_is_valid(&to, element, width, height, &extent))
        return device_leave(CUDA_ERROR_INVALID_VALUE);
    struct set_item *item = set_create(&to, &extent, value, element);
    if (!item)
        return device_leave(CUDA_ERROR_OUT_OF_MEMORY);
    if (stream->capture)
        return device_leave(capture_work(stream, CU_GRAPH_NODE_TYPE_MEMSET, &item->item));
    return device_leave(
        schedule_item(stream, &item->item,
                      synchronous && (copy_operand_is_host(&to) ||
                                      copy_operand_always_waits(stream->context, &to))));
}

/* ---- Nodes of graphs ---- */

CUresult set_of_node(const CUDA_MEMSET_NODE_PARAMS_v1 *params, struct item **item)
{
    struct copy_operand to = {.address = params->dst, .pitch = params->pitch};
    struct extent extent;
    unsigned element = params->elementSize;
    if ((element != 1 && element != 2 && element != 4) || !params->width || !params->height ||
        !set_is_valid(&to, element, params->width, params->height, &extent))
        return CUDA_ERROR_INVALID_VALUE;
    struct set_item *set = set_create(&to, &extent, params->value, element);
    *item = set ? &set->item : NULL;
    return set ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

void set_describe(const struct item *item, CUDA_MEMSET_NODE_PARAMS_v1 *params)
{
    const struct set_item *set = (const struct set_item *)item;
    *params = (CUDA_MEMSET_NODE_PARAMS_v1){.dst = set->to.address,
                                           .pitch = set->to.pitch,
                                           .value = set->value,
                                           .elementSize = set->element,
                                           .width = set->extent.width / set->element,
                                           .height = set->extent.height};
}

/* ---- Entry points: each for the legacy and for the per-thread default stream ---- */

#define SETS(bits, type, suffix, async_suffix, per_thread)                                         \
    CUresult CUDAAPI cuMemsetD##bits##_v2##suffix(CUdeviceptr to, type value, size_t count)        \
    {                                                                                              \
        return set(to, 0, value, bits / 8, count, 1, NULL, per_thread, true);                      \
    }                                                                                              \
    CUresult CUDAAPI cuMemsetD##bits##Async##async_suffix(CUdeviceptr to, type value,              \
                                                          size_t count, CUstream stream)           \
    {                                                                                              \
        return set(to, 0, value, bits / 8, count, 1, stream, per_thread, false);                   \
    }                                                                                              \
    CUresult CUDAAPI cuMemsetD2D##bits##_v2##suffix(CUdeviceptr to, size_t pitch, type value,      \
                                                    size_t width, size_t height)                   \
    {                                                                                              \
        return set(to, pitch, value, bits / 8, width, height, NULL, per_thread, true);             \
    }                                                                                              \
    CUresult CUDAAPI cuMemsetD2D##bits##Async##async_suffix(                                       \
        CUdeviceptr to, size_t pitch, type value, size_t width, size_t height, CUstream stream)    \
    {                                                                                              \
        return set(to, pitch, value, bits / 8, width, height, stream, per_thread, false);          \
    }

SETS(8, unsigned char, , , false)
SETS(8, unsigned char, _ptds, _ptsz, true)
SETS(16, unsigned short, , , false)
SETS(16, unsigned short, _ptds, _ptsz, true)
SETS(32, unsigned int, , , false)
SETS(32, unsigned int, _ptds, _ptsz, true)
