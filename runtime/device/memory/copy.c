/* Copies: cuMemcpy*, linear, 2D and 3D, as items of a stream.
 *
 * What a call waits for (CUDA Driver API, API synchronization behavior; where it leaves a choice,
 * as real devices were seen to do):
 *
 *   synchronous   host to device    the stream's earlier work; from pinned memory also the copy.
 *                                   Pageable memory is staged: the device may be written later
 *                 device to host    the copy
 *                 host to host      the copy
 *                 device to device  nothing
 *   asynchronous  host to host      the copy
 *                 device to         the copy, unless a schedule was asked for that takes what the
 *                 pageable          documentation leaves open: every device was seen to wait, and
 *                                   libraries count on it
 *                 everything else   nothing. Pageable sources are staged at the call, but read late
 *                                   under `lazy`: nothing promises the staging
 */
#include "runtime/device/memory/copy.h"
#include "runtime/device/memory/copy_item.h"

#include <stdlib.h>
#include <string.h>

enum waiting { WAIT_NOTHING, WAIT_EARLIER, WAIT_ITSELF };

/* ---- Checking ------------------------------------------------------------------------------ */

static enum waiting copy_waits(const struct CUctx_st *context, const struct copy_operand *to,
                               const struct copy_operand *from, bool synchronous)
{
    if (copy_operand_is_host(to) && copy_operand_is_host(from))
        return WAIT_ITSELF;
    if (synchronous &&
        (copy_operand_always_waits(context, to) || copy_operand_always_waits(context, from)))
        return WAIT_ITSELF;
    if (!synchronous)
        return copy_operand_is_pageable(to) && schedule_is_usual() ? WAIT_ITSELF : WAIT_NOTHING;
    if (!copy_operand_is_host(to) && !copy_operand_is_host(from))
        return WAIT_NOTHING;
    return copy_operand_is_pageable(from) ? WAIT_EARLIER : WAIT_ITSELF;
}

/* ---- Copies -------------------------------------------------------------------------------- */

/* Read a pageable source at the call? Not when earlier work may still write it: a staged copy would
 * be out of its stream's order. */
static bool may_stage(bool synchronous)
{
    return synchronous || (!device.schedule.stages_late && !device.host_writers);
}

static CUresult copy_enter(struct copy_operand *to, struct copy_operand *from,
                           const struct extent *extent, CUstream handle, bool per_thread,
                           bool synchronous, struct CUstream_st **stream)
{
    struct CUctx_st *context;
    CUresult result = device_enter_context(&context);
    if (result != CUDA_SUCCESS)
        return result;
    *stream = stream_resolve(context, handle, per_thread);
    if (!*stream)
        return device_leave(CUDA_ERROR_INVALID_HANDLE);
    if ((result = synchronous ? capture_admits_beside(*stream) : capture_admits(*stream)) !=
        CUDA_SUCCESS)
        return device_leave(result);
    if (extent->width && extent->height && extent->depth &&
        (!copy_operand_is_valid(to, extent) || !copy_operand_is_valid(from, extent)))
        return device_leave(CUDA_ERROR_INVALID_VALUE);
    return CUDA_SUCCESS;
}

static CUresult copy(struct copy_operand to, struct copy_operand from, struct extent extent,
                     CUstream handle, bool per_thread, bool synchronous)
{
    struct CUstream_st *stream;
    CUresult result = copy_enter(&to, &from, &extent, handle, per_thread, synchronous, &stream);
    if (result != CUDA_SUCCESS)
        return result;
    if (!extent.width || !extent.height || !extent.depth)
        return device_leave(CUDA_SUCCESS);
    enum waiting waiting = copy_waits(stream->context, &to, &from, synchronous);
    if (waiting == WAIT_EARLIER) {
        struct goal earlier = goal_stream(stream);
        if ((result = schedule_until(&earlier, stream->context)) != CUDA_SUCCESS)
            return device_leave(result);
    }
    struct copy_item *item = copy_item_create(&to, &from, &extent);
    if (!item)
        return device_leave(CUDA_ERROR_OUT_OF_MEMORY);
    if (stream->capture) /* a node reads its source when it runs */
        return device_leave(capture_work(stream, CU_GRAPH_NODE_TYPE_MEMCPY, &item->item));
    if (copy_operand_is_pageable(&from) && waiting != WAIT_ITSELF && may_stage(synchronous) &&
        !copy_item_stage(item)) {
        result = item->staged ? CUDA_ERROR_INVALID_VALUE : CUDA_ERROR_OUT_OF_MEMORY;
        free(item->staged);
        free(item);
        return device_leave(result);
    }
    copy_item_count(item);
    return device_leave(schedule_item(stream, &item->item, waiting == WAIT_ITSELF));
}

CUresult copy_row(struct copy_operand to, struct copy_operand from, size_t bytes, CUstream stream,
                  bool per_thread, bool synchronous)
{
    return copy(to, from, (struct extent){bytes, 1, 1}, stream, per_thread, synchronous);
}

CUresult copy_linear(uint64_t to, uint64_t from, size_t bytes, CUstream stream, bool per_thread,
                     bool synchronous)
{
    return copy((struct copy_operand){.address = to}, (struct copy_operand){.address = from},
                (struct extent){bytes, 1, 1}, stream, per_thread, synchronous);
}

/* The first byte of one side of a 2D or 3D copy, if that is no array. False: no type. */
static bool origin(CUmemorytype type, const void *host, CUdeviceptr address, uint64_t offset,
                   struct copy_operand *operand)
{
    if (type == CU_MEMORYTYPE_HOST)
        address = (CUdeviceptr)host;
    else if (type != CU_MEMORYTYPE_DEVICE && type != CU_MEMORYTYPE_UNIFIED)
        return false;
    operand->address = address ? address + offset : 0;
    return true;
}

struct copy_operand copy_in_array(CUarray array, size_t x, size_t y, size_t z)
{
    return (struct copy_operand){.array = array, .x = x, .y = y, .z = z};
}

static CUDA_MEMCPY3D of_two_dimensions(const CUDA_MEMCPY2D *copy2d)
{
    return (CUDA_MEMCPY3D){
        .srcXInBytes = copy2d->srcXInBytes,
        .srcY = copy2d->srcY,
        .srcMemoryType = copy2d->srcMemoryType,
        .srcHost = copy2d->srcHost,
        .srcDevice = copy2d->srcDevice,
        .srcArray = copy2d->srcArray,
        .srcPitch = copy2d->srcPitch,
        .dstXInBytes = copy2d->dstXInBytes,
        .dstY = copy2d->dstY,
        .dstMemoryType = copy2d->dstMemoryType,
        .dstHost = copy2d->dstHost,
        .dstDevice = copy2d->dstDevice,
        .dstArray = copy2d->dstArray,
        .dstPitch = copy2d->dstPitch,
        .WidthInBytes = copy2d->WidthInBytes,
        .Height = copy2d->Height,
        .Depth = 1,
    };
}

/* False: a memory type that there is not, or an array without a handle. */
static bool operands_of(const CUDA_MEMCPY3D *copy3d, struct copy_operand *to_operand,
                        struct copy_operand *from_operand, struct extent *extent)
{
    struct copy_operand to = {0}, from = {0};
    from.pitch = copy3d->srcPitch ? copy3d->srcPitch : copy3d->WidthInBytes;
    from.slice = from.pitch * (copy3d->srcHeight ? copy3d->srcHeight : copy3d->Height);
    to.pitch = copy3d->dstPitch ? copy3d->dstPitch : copy3d->WidthInBytes;
    to.slice = to.pitch * (copy3d->dstHeight ? copy3d->dstHeight : copy3d->Height);
    if (copy3d->srcMemoryType == CU_MEMORYTYPE_ARRAY && copy3d->srcArray)
        from = copy_in_array(copy3d->srcArray, copy3d->srcXInBytes, copy3d->srcY, copy3d->srcZ);
    else if (!origin(copy3d->srcMemoryType, copy3d->srcHost, copy3d->srcDevice,
                     copy3d->srcZ * from.slice + copy3d->srcY * from.pitch + copy3d->srcXInBytes,
                     &from))
        return false;
    if (copy3d->dstMemoryType == CU_MEMORYTYPE_ARRAY && copy3d->dstArray)
        to = copy_in_array(copy3d->dstArray, copy3d->dstXInBytes, copy3d->dstY, copy3d->dstZ);
    else if (!origin(copy3d->dstMemoryType, copy3d->dstHost, copy3d->dstDevice,
                     copy3d->dstZ * to.slice + copy3d->dstY * to.pitch + copy3d->dstXInBytes, &to))
        return false;
    *to_operand = to;
    *from_operand = from;
    *extent = (struct extent){copy3d->WidthInBytes, copy3d->Height, copy3d->Depth};
    return true;
}

CUresult copy_3d(const CUDA_MEMCPY3D *copy3d, CUstream stream, bool per_thread, bool synchronous)
{
    struct copy_operand to, from;
    struct extent extent;
    if (!copy3d || !operands_of(copy3d, &to, &from, &extent))
        return CUDA_ERROR_INVALID_VALUE;
    return copy(to, from, extent, stream, per_thread, synchronous);
}

CUresult copy_2d(const CUDA_MEMCPY2D *copy2d, CUstream stream, bool per_thread, bool synchronous)
{
    if (!copy2d)
        return CUDA_ERROR_INVALID_VALUE;
    const CUDA_MEMCPY3D copy3d = of_two_dimensions(copy2d);
    return copy_3d(&copy3d, stream, per_thread, synchronous);
}

/* ---- Between peers: contexts, whose memory here is just memory ---- */

/* What is enqueued on `later` from now on waits for what is on `earlier`. */
static CUresult follow(struct CUstream_st *later, struct CUstream_st *earlier)
{
    struct mark *end = mark_create();
    if (!end)
        return CUDA_ERROR_OUT_OF_MEMORY;
    CUresult result = queue_append_marker(earlier, mark_retain(end), NULL);
    if (result == CUDA_SUCCESS)
        return queue_append_marker(later, NULL, end);
    mark_release(end);
    return result;
}

/* A peer copy without Async is work of the legacy streams of both contexts. That is less than the
 * documentation says: "serialized with respect to all pending and future asynchronous work in to
 * the current context, the copy's source context, and the copy's destination context" (CUDA Driver
 * API, cuMemcpyPeer); non-blocking streams were seen to overlap (tests/litmus). */
static CUresult serialize(CUcontext to, CUcontext from, bool per_thread, bool after)
{
    struct CUctx_st *current, *const peers[] = {to, from};
    CUresult result = device_enter_context(&current);
    if (result != CUDA_SUCCESS)
        return result;
    struct CUstream_st *stream = stream_resolve(current, NULL, per_thread);
    if (!stream || !object_find(to, OBJECT_CONTEXT) || !object_find(from, OBJECT_CONTEXT))
        return device_leave(CUDA_ERROR_INVALID_CONTEXT);
    for (int i = 0; i < 2 && result == CUDA_SUCCESS && !stream->capture; i++) {
        struct CUstream_st *legacy = peers[i]->legacy;
        if (legacy != stream && !(i == 1 && to == from))
            result = after ? follow(legacy, stream) : follow(stream, legacy);
    }
    schedule_enqueued();
    return device_leave(result);
}

CUresult copy_3d_peer(const CUDA_MEMCPY3D_PEER *peer, CUstream stream, bool per_thread,
                      bool synchronous)
{
    if (!peer)
        return CUDA_ERROR_INVALID_VALUE;
    CUDA_MEMCPY3D copy3d = {
        .srcXInBytes = peer->srcXInBytes,
        .srcY = peer->srcY,
        .srcZ = peer->srcZ,
        .srcMemoryType = peer->srcMemoryType,
        .srcHost = peer->srcHost,
        .srcDevice = peer->srcDevice,
        .srcArray = peer->srcArray,
        .srcPitch = peer->srcPitch,
        .srcHeight = peer->srcHeight,
        .dstXInBytes = peer->dstXInBytes,
        .dstY = peer->dstY,
        .dstZ = peer->dstZ,
        .dstMemoryType = peer->dstMemoryType,
        .dstHost = peer->dstHost,
        .dstDevice = peer->dstDevice,
        .dstArray = peer->dstArray,
        .dstPitch = peer->dstPitch,
        .dstHeight = peer->dstHeight,
        .WidthInBytes = peer->WidthInBytes,
        .Height = peer->Height,
        .Depth = peer->Depth,
    };
    if (!synchronous)
        return copy_3d(&copy3d, stream, per_thread, synchronous);
    CUresult result = serialize(peer->dstContext, peer->srcContext, per_thread, false);
    if (result == CUDA_SUCCESS)
        result = copy_3d(&copy3d, stream, per_thread, synchronous);
    return result == CUDA_SUCCESS ? serialize(peer->dstContext, peer->srcContext, per_thread, true)
                                  : result;
}

CUresult copy_peer(CUdeviceptr to, CUcontext to_context, CUdeviceptr from, CUcontext from_context,
                   size_t bytes, CUstream stream, bool per_thread, bool synchronous)
{
    CUresult result = device_enter();
    if (result != CUDA_SUCCESS)
        return result;
    bool valid =
        object_find(to_context, OBJECT_CONTEXT) && object_find(from_context, OBJECT_CONTEXT);
    device_leave(CUDA_SUCCESS);
    if (!valid)
        return CUDA_ERROR_INVALID_CONTEXT;
    if (synchronous)
        result = serialize(to_context, from_context, per_thread, false);
    if (result == CUDA_SUCCESS)
        result = copy_linear(to, from, bytes, stream, per_thread, synchronous);
    return synchronous && result == CUDA_SUCCESS
               ? serialize(to_context, from_context, per_thread, true)
               : result;
}

/* ---- Nodes of graphs ---------------------------------------------------------------------------
 */

CUresult copy_of_node(const CUDA_MEMCPY3D *params, struct item **item)
{
    struct copy_operand to, from;
    struct extent extent;
    if (!operands_of(params, &to, &from, &extent) || !extent.width || !extent.height ||
        !extent.depth || !copy_operand_is_valid(&to, &extent) ||
        !copy_operand_is_valid(&from, &extent))
        return CUDA_ERROR_INVALID_VALUE;
    struct copy_item *copy = copy_item_create(&to, &from, &extent);
    *item = copy ? &copy->item : NULL;
    return copy ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

/* What one side is, with all offsets in the address if it is not in an array. */
static CUmemorytype type_of(const struct copy_operand *operand)
{
    return operand->array                      ? CU_MEMORYTYPE_ARRAY
           : copy_operand_is_pageable(operand) ? CU_MEMORYTYPE_HOST
                                               : CU_MEMORYTYPE_DEVICE;
}

static uint64_t address_if(const struct copy_operand *operand, CUmemorytype type)
{
    return type_of(operand) == type ? operand->address : 0;
}

static size_t rows_of(const struct copy_operand *operand)
{
    return operand->pitch && !operand->array ? operand->slice / operand->pitch : 0;
}

void copy_describe(const struct item *item, CUDA_MEMCPY3D *params)
{
    const struct copy_item *copy = (const struct copy_item *)item;
    const struct copy_operand *to = &copy->to, *from = &copy->from;
    *params = (CUDA_MEMCPY3D){
        .srcXInBytes = from->x,
        .srcY = from->y,
        .srcZ = from->z,
        .srcMemoryType = type_of(from),
        .srcHost = (const void *)address_if(from, CU_MEMORYTYPE_HOST),
        .srcDevice = address_if(from, CU_MEMORYTYPE_DEVICE),
        .srcArray = from->array,
        .srcPitch = from->array ? 0 : from->pitch,
        .srcHeight = rows_of(from),
        .dstXInBytes = to->x,
        .dstY = to->y,
        .dstZ = to->z,
        .dstMemoryType = type_of(to),
        .dstHost = (void *)address_if(to, CU_MEMORYTYPE_HOST),
        .dstDevice = address_if(to, CU_MEMORYTYPE_DEVICE),
        .dstArray = to->array,
        .dstPitch = to->array ? 0 : to->pitch,
        .dstHeight = rows_of(to),
        .WidthInBytes = copy->extent.width,
        .Height = copy->extent.height,
        .Depth = copy->extent.depth,
    };
}
