/* Sets: cuMemset*, linear and 2D, as items of a stream.
 *
 * A synchronous set waits for nothing, and for itself where the memory is pinned or managed (CUDA
 * Driver API, API synchronization behavior). */
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

CUresult CUDAAPI cuMemsetD8_v2(CUdeviceptr dstDevice, unsigned char uc, size_t N)
{
    return set(dstDevice, 0, uc, 1, N, 1, NULL, false, true);
}

CUresult CUDAAPI cuMemsetD8_v2_ptds(CUdeviceptr dstDevice, unsigned char uc, size_t N)
{
    return set(dstDevice, 0, uc, 1, N, 1, NULL, true, true);
}

CUresult CUDAAPI cuMemsetD8Async(CUdeviceptr dstDevice, unsigned char uc, size_t N,
                                 CUstream hStream)
{
    return set(dstDevice, 0, uc, 1, N, 1, hStream, false, false);
}

CUresult CUDAAPI cuMemsetD8Async_ptsz(CUdeviceptr dstDevice, unsigned char uc, size_t N,
                                      CUstream hStream)
{
    return set(dstDevice, 0, uc, 1, N, 1, hStream, true, false);
}

CUresult CUDAAPI cuMemsetD2D8_v2(CUdeviceptr dstDevice, size_t dstPitch, unsigned char uc,
                                 size_t Width, size_t Height)
{
    return set(dstDevice, dstPitch, uc, 1, Width, Height, NULL, false, true);
}

CUresult CUDAAPI cuMemsetD2D8_v2_ptds(CUdeviceptr dstDevice, size_t dstPitch, unsigned char uc,
                                      size_t Width, size_t Height)
{
    return set(dstDevice, dstPitch, uc, 1, Width, Height, NULL, true, true);
}

CUresult CUDAAPI cuMemsetD2D8Async(CUdeviceptr dstDevice, size_t dstPitch, unsigned char uc,
                                   size_t Width, size_t Height, CUstream hStream)
{
    return set(dstDevice, dstPitch, uc, 1, Width, Height, hStream, false, false);
}

CUresult CUDAAPI cuMemsetD2D8Async_ptsz(CUdeviceptr dstDevice, size_t dstPitch, unsigned char uc,
                                        size_t Width, size_t Height, CUstream hStream)
{
    return set(dstDevice, dstPitch, uc, 1, Width, Height, hStream, true, false);
}

CUresult CUDAAPI cuMemsetD16_v2(CUdeviceptr dstDevice, unsigned short us, size_t N)
{
    return set(dstDevice, 0, us, 2, N, 1, NULL, false, true);
}

CUresult CUDAAPI cuMemsetD16_v2_ptds(CUdeviceptr dstDevice, unsigned short us, size_t N)
{
    return set(dstDevice, 0, us, 2, N, 1, NULL, true, true);
}

CUresult CUDAAPI cuMemsetD16Async(CUdeviceptr dstDevice, unsigned short us, size_t N,
                                  CUstream hStream)
{
    return set(dstDevice, 0, us, 2, N, 1, hStream, false, false);
}

CUresult CUDAAPI cuMemsetD16Async_ptsz(CUdeviceptr dstDevice, unsigned short us, size_t N,
                                       CUstream hStream)
{
    return set(dstDevice, 0, us, 2, N, 1, hStream, true, false);
}

CUresult CUDAAPI cuMemsetD2D16_v2(CUdeviceptr dstDevice, size_t dstPitch, unsigned short us,
                                  size_t Width, size_t Height)
{
    return set(dstDevice, dstPitch, us, 2, Width, Height, NULL, false, true);
}

CUresult CUDAAPI cuMemsetD2D16_v2_ptds(CUdeviceptr dstDevice, size_t dstPitch, unsigned short us,
                                       size_t Width, size_t Height)
{
    return set(dstDevice, dstPitch, us, 2, Width, Height, NULL, true, true);
}

CUresult CUDAAPI cuMemsetD2D16Async(CUdeviceptr dstDevice, size_t dstPitch, unsigned short us,
                                    size_t Width, size_t Height, CUstream hStream)
{
    return set(dstDevice, dstPitch, us, 2, Width, Height, hStream, false, false);
}

CUresult CUDAAPI cuMemsetD2D16Async_ptsz(CUdeviceptr dstDevice, size_t dstPitch, unsigned short us,
                                         size_t Width, size_t Height, CUstream hStream)
{
    return set(dstDevice, dstPitch, us, 2, Width, Height, hStream, true, false);
}

CUresult CUDAAPI cuMemsetD32_v2(CUdeviceptr dstDevice, unsigned int ui, size_t N)
{
    return set(dstDevice, 0, ui, 4, N, 1, NULL, false, true);
}

CUresult CUDAAPI cuMemsetD32_v2_ptds(CUdeviceptr dstDevice, unsigned int ui, size_t N)
{
    return set(dstDevice, 0, ui, 4, N, 1, NULL, true, true);
}

CUresult CUDAAPI cuMemsetD32Async(CUdeviceptr dstDevice, unsigned int ui, size_t N,
                                  CUstream hStream)
{
    return set(dstDevice, 0, ui, 4, N, 1, hStream, false, false);
}

CUresult CUDAAPI cuMemsetD32Async_ptsz(CUdeviceptr dstDevice, unsigned int ui, size_t N,
                                       CUstream hStream)
{
    return set(dstDevice, 0, ui, 4, N, 1, hStream, true, false);
}

CUresult CUDAAPI cuMemsetD2D32_v2(CUdeviceptr dstDevice, size_t dstPitch, unsigned int ui,
                                  size_t Width, size_t Height)
{
    return set(dstDevice, dstPitch, ui, 4, Width, Height, NULL, false, true);
}

CUresult CUDAAPI cuMemsetD2D32_v2_ptds(CUdeviceptr dstDevice, size_t dstPitch, unsigned int ui,
                                       size_t Width, size_t Height)
{
    return set(dstDevice, dstPitch, ui, 4, Width, Height, NULL, true, true);
}

CUresult CUDAAPI cuMemsetD2D32Async(CUdeviceptr dstDevice, size_t dstPitch, unsigned int ui,
                                    size_t Width, size_t Height, CUstream hStream)
{
    return set(dstDevice, dstPitch, ui, 4, Width, Height, hStream, false, false);
}

CUresult CUDAAPI cuMemsetD2D32Async_ptsz(CUdeviceptr dstDevice, size_t dstPitch, unsigned int ui,
                                         size_t Width, size_t Height, CUstream hStream)
{
    return set(dstDevice, dstPitch, ui, 4, Width, Height, hStream, true, false);
}
