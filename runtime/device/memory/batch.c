/* Copies in batches. "The batch as a whole executes in stream order but copies within a batch are
 * not guaranteed to execute in any specific order" (CUDA Driver API, cuMemcpyBatchAsync). Here they
 * run in the order of the array. A source that may be read out of stream order is read in it,
 * unless it has to be read before the call returns. */
#include "runtime/device/driver/graph/graph.h"
#include "runtime/device/memory/array.h"

#include <stdlib.h>
#include <string.h>

/* Memory that a copy before it in the stream reads, and nobody needs any more. */
struct scratch_item {
    struct item item;
    void *memory;
};

static enum step scratch_step(struct item *item)
{
    (void)item;
    return STEP_DONE;
}

static void scratch_discard(struct item *item)
{
    free(((struct scratch_item *)item)->memory);
    free(item);
}

/* Takes the memory, whatever comes. */
static CUresult scratch_follow(CUstream handle, void *memory, bool per_thread)
{
    struct CUctx_st *context;
    struct scratch_item *scratch = calloc(1, sizeof *scratch);
    CUresult result = scratch ? device_enter_context(&context) : CUDA_ERROR_OUT_OF_MEMORY;
    struct CUstream_st *stream =
        result == CUDA_SUCCESS ? stream_resolve(context, handle, per_thread) : NULL;
    if (!stream) {
        free(scratch);
        return result == CUDA_SUCCESS ? device_leave(CUDA_ERROR_INVALID_HANDLE) : result;
    }
    scratch->item.step = scratch_step;
    scratch->item.discard = scratch_discard;
    scratch->memory = memory;
    queue_enqueue(stream, &scratch->item);
    return device_leave(CUDA_SUCCESS);
}

static CUresult copy_linear(CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream stream,
                            bool per_thread)
{
    return per_thread ? cuMemcpyAsync_ptsz(to, from, bytes, stream)
                      : cuMemcpyAsync(to, from, bytes, stream);
}

static CUresult synchronize(CUstream stream, bool per_thread)
{
    return per_thread ? cuStreamSynchronize_ptsz(stream) : cuStreamSynchronize(stream);
}

static bool is_pageable(CUdeviceptr address)
{
    device_lock();
    bool pageable = memory_at(address).kind == MEMORY_PAGEABLE;
    device_unlock();
    return pageable;
}

/* The source is read now: pageable memory is the program's, and may be gone when the copy runs. */
static CUresult copy_now(CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream stream,
                         bool per_thread)
{
    void *staged = is_pageable(from) ? malloc(bytes) : NULL;
    if (!staged) {
        CUresult result = copy_linear(to, from, bytes, stream, per_thread);
        return result == CUDA_SUCCESS ? synchronize(stream, per_thread) : result;
    }
    memcpy(staged, (const void *)from, bytes);
    CUresult result = copy_linear(to, (CUdeviceptr)staged, bytes, stream, per_thread);
    if (result == CUDA_SUCCESS)
        return scratch_follow(stream, staged, per_thread);
    free(staged);
    return result;
}

static bool is_legacy(CUstream stream, bool per_thread)
{
    return stream == CU_STREAM_LEGACY || (!stream && !per_thread);
}

static bool is_order(CUmemcpySrcAccessOrder order)
{
    return order >= CU_MEMCPY_SRC_ACCESS_ORDER_STREAM && order <= CU_MEMCPY_SRC_ACCESS_ORDER_ANY;
}

/* "The first entry in attrsIdxs must always be 0. Also, each entry must be greater than the
 * previous entry and the last entry should be less than count." */
static bool attributes_are_valid(size_t count, const CUmemcpyAttributes *attrs,
                                 const size_t *indices, size_t sets)
{
    if (!attrs || !indices || !sets || sets > count || indices[0])
        return false;
    for (size_t i = 0; i < sets; i++)
        if (!is_order(attrs[i].srcAccessOrder) || indices[i] >= count ||
            (i && indices[i] <= indices[i - 1]))
            return false;
    return true;
}

/* Which copy failed goes to *failed. */
static CUresult copy_all(const CUdeviceptr *to, const CUdeviceptr *from, const size_t *sizes,
                         size_t count, const CUmemcpyAttributes *attrs, const size_t *indices,
                         size_t sets, size_t *failed, CUstream stream, bool per_thread)
{
    CUresult result = CUDA_SUCCESS;
    size_t set = 0;
    *failed = SIZE_MAX;
    if (!to || !from || !sizes || !count || is_legacy(stream, per_thread) ||
        !attributes_are_valid(count, attrs, indices, sets))
        return CUDA_ERROR_INVALID_VALUE;
    for (size_t i = 0; i < count && result == CUDA_SUCCESS; i++) {
        while (set + 1 < sets && indices[set + 1] <= i)
            set++;
        bool now = attrs[set].srcAccessOrder == CU_MEMCPY_SRC_ACCESS_ORDER_DURING_API_CALL;
        result = (now ? copy_now : copy_linear)(to[i], from[i], sizes[i], stream, per_thread);
        if (result != CUDA_SUCCESS)
            *failed = i;
    }
    return result;
}

static void report_failed(size_t *to, size_t failed, CUresult result)
{
    if (to && result != CUDA_SUCCESS)
        *to = failed;
}

static CUresult copy_all_v1(const CUdeviceptr *to, const CUdeviceptr *from, const size_t *sizes,
                            size_t count, const CUmemcpyAttributes *attrs, const size_t *indices,
                            size_t sets, size_t *fail, CUstream stream, bool per_thread)
{
    size_t failed;
    CUresult result =
        copy_all(to, from, sizes, count, attrs, indices, sets, &failed, stream, per_thread);
    report_failed(fail, failed, result);
    return result;
}

static CUresult copy_one(CUdeviceptr to, CUdeviceptr from, size_t bytes,
                         const CUmemcpyAttributes *attributes, CUstream stream, bool per_thread)
{
    if (!attributes || !is_order(attributes->srcAccessOrder))
        return CUDA_ERROR_INVALID_VALUE;
    bool now = attributes->srcAccessOrder == CU_MEMCPY_SRC_ACCESS_ORDER_DURING_API_CALL;
    return (now ? copy_now : copy_linear)(to, from, bytes, stream, per_thread);
}

/* ---- Over a fabric: between pointers, since this device has no logical endpoints ---- */

static bool is_fabric_operand(const CUfabricCpyOperand *operand)
{
    return operand->type == CU_FABRIC_COPY_OPERAND_TYPE_POINTER ||
           operand->type == CU_FABRIC_COPY_OPERAND_TYPE_LOGICAL_ENDPOINT;
}

static CUresult copy_fabric(size_t count, const CUDA_FABRIC_COPY_BATCH_OP *list,
                            unsigned long long flags, CUstream stream, bool per_thread)
{
    CUresult result = CUDA_SUCCESS;
    if (!count || !list || flags || is_legacy(stream, per_thread))
        return CUDA_ERROR_INVALID_VALUE;
    for (size_t i = 0; i < count; i++) {
        if (list[i].flags || !is_fabric_operand(&list[i].src) || !is_fabric_operand(&list[i].dst))
            return CUDA_ERROR_INVALID_VALUE;
        if (list[i].src.type != CU_FABRIC_COPY_OPERAND_TYPE_POINTER ||
            list[i].dst.type != CU_FABRIC_COPY_OPERAND_TYPE_POINTER)
            return device_lacks("a copy with a logical endpoint");
    }
    for (size_t i = 0; i < count && result == CUDA_SUCCESS; i++)
        if (list[i].size)
            result = copy_linear(list[i].dst.op.ptr.ptr, list[i].src.op.ptr.ptr, list[i].size,
                                 stream, per_thread);
    return result;
}

/* ---- Three dimensions ---- */

static size_t element_bytes_of(const CUmemcpy3DOperand *operand)
{
    size_t bytes = 1;
    if (operand->type == CU_MEMCPY_OPERAND_TYPE_ARRAY) {
        device_lock();
        bytes = array_element_bytes(array_of(operand->op.array.array));
        device_unlock();
    }
    return bytes;
}

/* One side of a copy, as cuMemcpy3D describes it. */
struct side {
    CUmemorytype type;
    CUdeviceptr address;
    CUarray array;
    size_t pitch, height, x, y, z;
};

/* "the element size is determined by the CUDA array", for rows of memory as well. */
static struct side side_of(const CUmemcpy3DOperand *operand, const CUextent3D *extent,
                           size_t element)
{
    if (operand->type == CU_MEMCPY_OPERAND_TYPE_ARRAY)
        return (struct side){.type = CU_MEMORYTYPE_ARRAY,
                             .array = operand->op.array.array,
                             .x = operand->op.array.offset.x * element,
                             .y = operand->op.array.offset.y,
                             .z = operand->op.array.offset.z};
    size_t row = operand->op.ptr.rowLength ? operand->op.ptr.rowLength : extent->width;
    return (struct side){.type = CU_MEMORYTYPE_UNIFIED,
                         .address = operand->op.ptr.ptr,
                         .pitch = row * element,
                         .height = operand->op.ptr.layerHeight ? operand->op.ptr.layerHeight
                                                               : extent->height};
}

static bool is_operand(const CUmemcpy3DOperand *operand)
{
    return operand->type == CU_MEMCPY_OPERAND_TYPE_POINTER ||
           operand->type == CU_MEMCPY_OPERAND_TYPE_ARRAY;
}

static CUresult copy_box(const CUDA_MEMCPY3D_BATCH_OP *op, CUstream stream, bool per_thread)
{
    const size_t from_element = element_bytes_of(&op->src), to_element = element_bytes_of(&op->dst);
    const size_t element = from_element > 1 ? from_element : to_element;
    if (!is_operand(&op->src) || !is_operand(&op->dst) || !from_element || !to_element)
        return CUDA_ERROR_INVALID_VALUE;
    const struct side from = side_of(&op->src, &op->extent, element),
                      to = side_of(&op->dst, &op->extent, element);
    const CUDA_MEMCPY3D what = {.srcMemoryType = from.type,
                                .srcDevice = from.address,
                                .srcArray = from.array,
                                .srcPitch = from.pitch,
                                .srcHeight = from.height,
                                .srcXInBytes = from.x,
                                .srcY = from.y,
                                .srcZ = from.z,
                                .dstMemoryType = to.type,
                                .dstDevice = to.address,
                                .dstArray = to.array,
                                .dstPitch = to.pitch,
                                .dstHeight = to.height,
                                .dstXInBytes = to.x,
                                .dstY = to.y,
                                .dstZ = to.z,
                                .WidthInBytes = op->extent.width * element,
                                .Height = op->extent.height,
                                .Depth = op->extent.depth};
    CUresult result =
        per_thread ? cuMemcpy3DAsync_v2_ptsz(&what, stream) : cuMemcpy3DAsync_v2(&what, stream);
    bool now = op->srcAccessOrder == CU_MEMCPY_SRC_ACCESS_ORDER_DURING_API_CALL;
    return now && result == CUDA_SUCCESS ? synchronize(stream, per_thread) : result;
}

static CUresult copy_boxes(size_t count, const CUDA_MEMCPY3D_BATCH_OP *list, size_t *fail,
                           unsigned long long flags, CUstream stream, bool per_thread)
{
    CUresult result = CUDA_SUCCESS;
    if (!count || !list || flags || is_legacy(stream, per_thread))
        return CUDA_ERROR_INVALID_VALUE;
    for (size_t i = 0; i < count && result == CUDA_SUCCESS; i++) {
        const CUextent3D *extent = &list[i].extent;
        bool valid =
            is_order(list[i].srcAccessOrder) && extent->width && extent->height && extent->depth;
        result = valid ? copy_box(&list[i], stream, per_thread) : CUDA_ERROR_INVALID_VALUE;
        report_failed(fail, i, result);
    }
    return result;
}

static CUresult copy_one_box(const CUDA_MEMCPY3D_BATCH_OP *op, unsigned long long flags,
                             CUstream stream, bool per_thread)
{
    bool valid = op && !flags && is_order(op->srcAccessOrder) && op->extent.width &&
                 op->extent.height && op->extent.depth;
    return valid ? copy_box(op, stream, per_thread) : CUDA_ERROR_INVALID_VALUE;
}

/* ---- Entry points -------------------------------------------------------------------------- */

#define ENTRIES(suffix, per_thread)                                                                \
    CUresult CUDAAPI cuMemcpyBatchAsync##suffix(                                                   \
        CUdeviceptr *dsts, CUdeviceptr *srcs, size_t *sizes, size_t count,                         \
        CUmemcpyAttributes *attrs, size_t *attrsIdxs, size_t numAttrs, size_t *failIdx,            \
        CUstream hStream)                                                                          \
    {                                                                                              \
        return copy_all_v1(dsts, srcs, sizes, count, attrs, attrsIdxs, numAttrs, failIdx, hStream, \
                           per_thread);                                                            \
    }                                                                                              \
    CUresult CUDAAPI cuMemcpyBatchAsync_v2##suffix(                                                \
        CUdeviceptr *dsts, CUdeviceptr *srcs, size_t *sizes, size_t count,                         \
        CUmemcpyAttributes *attrs, size_t *attrsIdxs, size_t numAttrs, CUstream hStream)           \
    {                                                                                              \
        return copy_all_v1(dsts, srcs, sizes, count, attrs, attrsIdxs, numAttrs, NULL, hStream,    \
                           per_thread);                                                            \
    }                                                                                              \
    CUresult CUDAAPI cuMemcpy3DBatchAsync##suffix(size_t numOps, CUDA_MEMCPY3D_BATCH_OP *opList,   \
                                                  size_t *failIdx, unsigned long long flags,       \
                                                  CUstream hStream)                                \
    {                                                                                              \
        return copy_boxes(numOps, opList, failIdx, flags, hStream, per_thread);                    \
    }                                                                                              \
    CUresult CUDAAPI cuMemcpy3DBatchAsync_v2##suffix(                                              \
        size_t numOps, CUDA_MEMCPY3D_BATCH_OP *opList, unsigned long long flags, CUstream hStream) \
    {                                                                                              \
        return copy_boxes(numOps, opList, NULL, flags, hStream, per_thread);                       \
    }                                                                                              \
    CUresult CUDAAPI cuMemcpyWithAttributesAsync##suffix(                                          \
        CUdeviceptr dst, CUdeviceptr src, size_t size, CUmemcpyAttributes *attr, CUstream hStream) \
    {                                                                                              \
        return copy_one(dst, src, size, attr, hStream, per_thread);                                \
    }                                                                                              \
    CUresult CUDAAPI cuMemcpy3DWithAttributesAsync##suffix(                                        \
        CUDA_MEMCPY3D_BATCH_OP *op, unsigned long long flags, CUstream hStream)                    \
    {                                                                                              \
        return copy_one_box(op, flags, hStream, per_thread);                                       \
    }                                                                                              \
    CUresult CUDAAPI cuFabricCpyBatchAsync##suffix(size_t numOps,                                  \
                                                   CUDA_FABRIC_COPY_BATCH_OP *opList,              \
                                                   unsigned long long flags, CUstream hStream)     \
    {                                                                                              \
        return copy_fabric(numOps, opList, flags, hStream, per_thread);                            \
    }

ENTRIES(, false)
ENTRIES(_ptsz, true)
