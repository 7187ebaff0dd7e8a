/* The hooks of copies between linear memory: what each reads and writes, and what it orders.
 *
 * Copies are known exactly. What a copy without Async orders before the host follows the CUDA
 * Driver API, "API synchronization behavior":
 *
 *   - host to device: waits for the stream first; from pinned memory for the copy, too. From
 *     pageable memory only the source has been read when the call returns.
 *   - device to host: waits.
 *   - host to host: waits, with Async too.
 *   - device to device: does not wait.
 *   - any, where the context or the memory is set to (memops.h): waits.
 *   - between peers: work of the legacy streams of both contexts, and of the current one. The
 *     documentation promises more: "serialized with respect to all pending and future asynchronous
 *     work in to the current context, the copy's source context, and the copy's destination
 *     context" (cuMemcpyPeer). Non-blocking streams were seen to overlap it (tests/litmus), and
 * what was seen to overlap is never called ordered.
 *
 * An Async copy with pageable memory promises nothing and is taken as asynchronous. Where the host
 * was seen to wait for a copy though nothing promises it, a report says so. From pageable memory
 * "the driver may synchronize with the stream and stage the copy into pinned memory", or may not:
 * the source is read in the stream's order, or at the call, so csan checks both. (To pageable
 * memory the copy writes after the stream's work in either case.) */
#include "runtime/hook/state/transfer.h"
#include "driver_hooks.h"
#include "runtime/hook/api/device_transfer.h"
#include "runtime/hook/host/host_access.h"
#include "runtime/hook/state/array_table.h"
#include "runtime/hook/state/callsite.h"
#include "runtime/hook/state/copied_values.h"
#include "runtime/hook/state/known_contents.h"
#include "runtime/hook/session/deferred.h"
#include "runtime/hook/session/guard.h"
#include "runtime/hook/state/implicit_wait.h"
#include "runtime/hook/state/memops.h"
#include "runtime/hook/operator/operator_deferred.h"
#include "runtime/hook/operator/operator_work.h"
#include "runtime/hook/state/memory_type.h"
#include "runtime/hook/failure/refused_call.h"
#include "runtime/hook/state/stream.h"
#include "runtime/hook/session/counters.h"
#include "runtime/hook/state/thread.h"
#include "runtime/hook/observe/trace.h"
#include "runtime/hook/state/stream_memop.h"
#include "runtime/hook/session/session.h"

struct copy {
    const struct driver_entry *entry;
    CUstream stream;
    struct transfer_side source, target;
    bool async;
    bool peer;
    bool always_waits;                        /* for itself, as the program asked: see memops.h */
    CUcontext source_context, target_context; /* of a peer copy */
    csan_snapshot *stream_before;       /* a synchronous copy: the stream as it was at the call */
    csan_snapshot *host_before;         /* one whose source may be read then: the host */
    const struct callsite_stack *stack; /* of the call; NULL: it is not captured yet */
};

static enum memory_type host_place(const void *address)
{
    return memory_type_of((uintptr_t)address);
}

static bool nothing_to_do(const struct copy *copy)
{
    return copy->source.row_bytes == 0 || copy->target.row_bytes == 0;
}

/* A copy that is taken as asynchronous. */
static bool may_read_at_call(const struct copy *copy)
{
    return copy->source.place == MEMORY_TYPE_PAGEABLE && !memory_type_is_host(copy->target.place) &&
           (copy->async || !implicit_wait_orders(WAIT_COPY_FROM_PAGEABLE));
}

/* Before the real call. The lane is made before functions that end during it: it must not be one of
 * theirs. */
static void copy_begin(struct copy *copy)
{
    const bool at_call = may_read_at_call(copy);
    if (!nothing_to_do(copy) && copy->target.place != MEMORY_TYPE_DEVICE)
        host_access_before_write(copy->target.base, transfer_reach(&copy->target));
    if (nothing_to_do(copy) || (copy->async && !at_call))
        return;
    struct stream *stream = stream_lock_known(copy->stream, copy->entry->thread_default);
    if (!stream)
        return;
    if (!copy->async)
        copy->stream_before = stream_snapshot(stream);
    if (at_call && stream_calls_lane(stream) != CSAN_NO_LANE)
        copy->host_before = csan_snapshot_take(session_context(), thread_lane());
    guard_unlock();
}

static void serialize(const struct copy *copy, struct stream *stream,
                      void (*with)(struct stream *stream, CUcontext context))
{
    if (!copy->peer || copy->async || !implicit_wait_orders(WAIT_COPY_BETWEEN_PEERS))
        return;
    with(stream, copy->source_context);
    if (copy->target_context != copy->source_context)
        with(stream, copy->target_context);
}

/* Copies from pageable memory that are longer go through it in pieces. */
enum { STAGED_BYTES = 64 << 10 };

/* What the host waits for within the call: the stream's earlier work, and the copy. */
struct copy_waits {
    enum implicit_wait before, itself;
};

static struct copy_waits waits_both(enum implicit_wait wait)
{
    return (struct copy_waits){wait, wait};
}

/* What was seen is from tests/litmus. */
static struct copy_waits waits_of_pageable_source(const struct copy *copy)
{
    const bool in_pieces = copy->source.row_bytes > STAGED_BYTES;
    if (copy->async)
        return (struct copy_waits){.itself = in_pieces ? WAIT_COPY_ASYNC_FROM_PAGEABLE : WAIT_NONE};
    const bool whole = !in_pieces && copy->source.dim_count == 0;
    return (struct copy_waits){WAIT_COPY_FROM_PAGEABLE, whole ? WAIT_COPY_STAGED_WHOLE : WAIT_NONE};
}

static struct copy_waits copy_waits(const struct copy *copy)
{
    const enum memory_type from = copy->source.place, to = copy->target.place;
    if (memory_type_is_host(from) && memory_type_is_host(to))
        return waits_both(WAIT_COPY_ON_HOST);
    if (copy->always_waits)
        return waits_both(WAIT_COPY_SYNC_MEMOPS);
    if (memory_type_is_host(to) && !copy->async)
        return waits_both(WAIT_COPY_TO_HOST);
    if (memory_type_is_host(to))
        return (struct copy_waits){
            .itself = to == MEMORY_TYPE_PAGEABLE ? WAIT_COPY_ASYNC_TO_PAGEABLE : WAIT_NONE};
    if (from == MEMORY_TYPE_PAGEABLE)
        return waits_of_pageable_source(copy);
    return waits_both(from == MEMORY_TYPE_PINNED && !copy->async ? WAIT_COPY_FROM_PINNED
                                                                 : WAIT_NONE);
}

/* The same bytes, at the call. What the stream does later comes after both. */
static void read_at_call(const struct copy *copy, struct stream *stream, csan_site site)
{
    struct csan_access source;
    csan_lane lane = copy->host_before ? stream_calls_lane(stream) : CSAN_NO_LANE;
    if (lane == CSAN_NO_LANE || !transfer_access(&copy->source, CSAN_READ, &source))
        return;
    csan_snapshot_join(session_context(), lane, copy->host_before);
    operator_enqueue(lane, site, CSAN_LEVEL_LIBRARY, true, &source, 1);
    csan_lane_waits(session_context(), stream_lane(stream), lane);
}

/* Before the call returned; the rest is under way. */
static void read_by_host(const struct copy *copy, const struct stream *stream, csan_site site)
{
    struct csan_access source;
    if (transfer_access(&copy->source, CSAN_READ, &source))
        operator_enqueue(thread_lane(), site, CSAN_LEVEL_LIBRARY, true, &source, 1);
    thread_enqueues(stream_lane(stream));
}

/* After it succeeded, with the stream locked. */
static void copy_record(const struct copy *copy, struct stream *stream, csan_site site,
                        struct copy_waits waits)
{
    const bool staged = waits.before == WAIT_COPY_FROM_PAGEABLE && !may_read_at_call(copy);
    struct csan_access accesses[2];
    size_t count = 0;
    const bool waited = waits.itself != WAIT_NONE && implicit_wait_orders(waits.itself);
    implicit_wait_for(waits.before, copy->entry, waited ? 0 : site, copy->stream_before);
    stream_use(stream);
    serialize(copy, stream, stream_serialize_before);
    if (staged)
        read_by_host(copy, stream, site);
    else
        count = transfer_access(&copy->source, CSAN_READ, accesses);
    count += transfer_access(&copy->target, CSAN_WRITE, &accesses[count]);
    host_access_in_call(waited ? HOST_CALL_WAITED : HOST_CALL_COPY);
    operator_enqueue(stream_lane(stream), site, CSAN_LEVEL_LIBRARY, true, accesses, count);
    host_access_in_call(HOST_CALL_OTHER);
    serialize(copy, stream, stream_serialize_after);
    implicit_wait_for_lane(waits.itself, copy->entry, site, stream_lane(stream));
    read_at_call(copy, stream, site);
}

/* What the target holds from now on, where that can be known.
 *
 * A copy that the call waited for has read its source. One with Async from pageable memory is taken
 * at its word, too: the driver may stage it within the call, so a program that lets the source
 * change before the copy is done means nothing in particular. From pinned memory it surely reads
 * later: a host function before it in its stream may be what fills the source. */
static const void *copy_small(const struct copy *copy)
{
    const struct transfer_side *source = &copy->source, *target = &copy->target;
    if (target->dim_count || source->dim_count || target->is_array || source->is_array ||
        target->row_bytes > CONTENT_PIECE_MAX || !memory_type_is_host(source->place) ||
        memory_type_of(target->base) !=
            MEMORY_TYPE_DEVICE) /* the host writes to managed memory itself */
        return NULL;
    return (const void *)(uintptr_t)source->base;
}

/* Whether what is there now is what the copy reads. */
static bool copy_has_read(const struct copy *copy)
{
    return copy->source.place == MEMORY_TYPE_PAGEABLE ||
           (copy->source.place == MEMORY_TYPE_PINNED && !copy->async);
}

/* With the lock held. */
static void copy_content(const struct transfer_side *target, const void *known)
{
    uint64_t reach = transfer_reach(target);
    if (!target->is_array && target->place != MEMORY_TYPE_PAGEABLE)
        known_contents_written(target->base, reach, known,
                               memory_type_may_be_constant(target->base, reach));
    if (!target->is_array)
        stream_memop_overwritten(target->base, reach);
}

static void copy_refused(const struct copy *copy)
{
    struct callsite_stack stack;
    struct csan_access accesses[2];
    if (nothing_to_do(copy))
        return;
    callsite_capture(&stack);
    refused_call_copy(&(struct refused){
        .entry = copy->entry,
        .stream = copy->stream,
        .site = callsite_intern(&stack, copy->entry->name, transfer_arguments, 2),
        .accesses = accesses,
        .access_count = transfer_accesses(&copy->source, &copy->target, accesses),
    });
}

static csan_site site_of(const struct copy *copy)
{
    struct callsite_stack stack;
    if (!copy->stack)
        callsite_capture(&stack);
    return operator_site(copy->stack ? copy->stack : &stack, copy->entry->name, transfer_arguments,
                         2);
}

static void copy_end(struct copy *copy, CUresult result)
{
    bool thread_default = copy->entry->thread_default;
    struct csan_access accesses[2];
    guard_waited();
    if (result == CUDA_SUCCESS && !nothing_to_do(copy) &&
        stream_is_capturing(copy->stream, thread_default)) {
        operator_capture(copy->stream, thread_default, site_of(copy), CSAN_LEVEL_LIBRARY, true,
                         accesses, transfer_accesses(&copy->source, &copy->target, accesses));
    } else if (result == CUDA_SUCCESS && !nothing_to_do(copy)) {
        if (copy->source.is_array || copy->target.is_array)
            counters_unmodelled("copies with CUDA arrays that csan did not see created");
        const csan_site site = site_of(copy);
        const void *small = copy_small(copy);
        copy->always_waits =
            !copy->async && (memops_wait(copy->source.base) || memops_wait(copy->target.base));
        const struct copy_waits waits = copy_waits(copy);
        struct stream *stream = stream_lock(copy->stream, thread_default);
        if (stream) {
            copy_content(&copy->target, copy_has_read(copy) ? small : NULL);
            copy_record(copy, stream, site, waits);
            if (small)
                copied_values_note(copy->target.base, copy->target.row_bytes, small);
            guard_unlock();
        }
    }
    if (refused_call_matters(result))
        copy_refused(copy);
    if (copy->stream_before)
        csan_snapshot_release(session_context(), copy->stream_before);
    if (copy->host_before)
        csan_snapshot_release(session_context(), copy->host_before);
    if (!copy->async && memory_type_is_host(copy->target.place))
        trace_waited();
}

/* An asynchronous copy that the host has no part in. */
static bool is_of_devices(const struct copy *copy)
{
    return copy->source.place == MEMORY_TYPE_DEVICE && copy->target.place == MEMORY_TYPE_DEVICE;
}

/* After the call, in the place of copy_end. */
static void copy_end_later(struct copy *copy, CUresult result)
{
    struct callsite_stack stack;
    struct device_transfer transfer = {
        .entry = copy->entry,
        .stream = copy->stream,
        .arguments = transfer_arguments,
        .written = {copy->target.base, copy->target.base + copy->target.row_bytes}};
    const bool may = result == CUDA_SUCCESS && !nothing_to_do(copy) && is_of_devices(copy);
    if (may) {
        transfer.count = transfer_accesses(&copy->source, &copy->target, transfer.accesses);
        if (!operator_deferred_owner()) { /* it has one */
            callsite_capture(&stack);
            copy->stack = &stack;
        }
    }
    if (!may || !device_transfer_defer(&transfer, copy->stack))
        copy_end(copy, result);
}

/* ---- One-dimensional ---- */

CUresult hook_copy(const struct driver_entry *entry, CUdeviceptr_v2 dst, CUdeviceptr_v2 src,
                   size_t ByteCount)
{
    struct copy copy = {.entry = entry,
                        .source = transfer_linear(src, ByteCount, memory_type_of(src)),
                        .target = transfer_linear(dst, ByteCount, memory_type_of(dst))};
    copy_begin(&copy);
    CUresult result = DRIVER_REAL(entry, cuMemcpy_v4000)(dst, src, ByteCount);
    copy_end(&copy, result);
    return result;
}

CUresult hook_copy_async(const struct driver_entry *entry, CUdeviceptr_v2 dst, CUdeviceptr_v2 src,
                         size_t ByteCount, CUstream hStream)
{
    struct copy copy = {.entry = entry,
                        .stream = hStream,
                        .async = true,
                        .source = transfer_linear(src, ByteCount, memory_type_of(src)),
                        .target = transfer_linear(dst, ByteCount, memory_type_of(dst))};
    if (!is_of_devices(&copy))
        deferred_flush();
    copy_begin(&copy);
    CUresult result = DRIVER_REAL(entry, cuMemcpyAsync_v4000)(dst, src, ByteCount, hStream);
    copy_end_later(&copy, result);
    return result;
}

CUresult hook_copy_host_to_device(const struct driver_entry *entry, CUdeviceptr_v2 dstDevice,
                                  const void *srcHost, size_t ByteCount)
{
    struct copy copy = {.entry = entry,
                        .source =
                            transfer_linear((uintptr_t)srcHost, ByteCount, host_place(srcHost)),
                        .target = transfer_linear(dstDevice, ByteCount, MEMORY_TYPE_DEVICE)};
    copy_begin(&copy);
    CUresult result = DRIVER_REAL(entry, cuMemcpyHtoD_v3020)(dstDevice, srcHost, ByteCount);
    copy_end(&copy, result);
    return result;
}

CUresult hook_copy_host_to_device_async(const struct driver_entry *entry, CUdeviceptr_v2 dstDevice,
                                        const void *srcHost, size_t ByteCount, CUstream hStream)
{
    struct copy copy = {.entry = entry,
                        .stream = hStream,
                        .async = true,
                        .source =
                            transfer_linear((uintptr_t)srcHost, ByteCount, host_place(srcHost)),
                        .target = transfer_linear(dstDevice, ByteCount, MEMORY_TYPE_DEVICE)};
    copy_begin(&copy);
    CUresult result =
        DRIVER_REAL(entry, cuMemcpyHtoDAsync_v3020)(dstDevice, srcHost, ByteCount, hStream);
    copy_end(&copy, result);
    return result;
}

CUresult hook_copy_device_to_host(const struct driver_entry *entry, void *dstHost,
                                  CUdeviceptr_v2 srcDevice, size_t ByteCount)
{
    struct copy copy = {.entry = entry,
                        .source = transfer_linear(srcDevice, ByteCount, MEMORY_TYPE_DEVICE),
                        .target =
                            transfer_linear((uintptr_t)dstHost, ByteCount, MEMORY_TYPE_PINNED)};
    copy_begin(&copy);
    CUresult result = DRIVER_REAL(entry, cuMemcpyDtoH_v3020)(dstHost, srcDevice, ByteCount);
    copy_end(&copy, result);
    return result;
}

CUresult hook_copy_device_to_host_async(const struct driver_entry *entry, void *dstHost,
                                        CUdeviceptr_v2 srcDevice, size_t ByteCount,
                                        CUstream hStream)
{
    struct copy copy = {.entry = entry,
                        .stream = hStream,
                        .async = true,
                        .source = transfer_linear(srcDevice, ByteCount, MEMORY_TYPE_DEVICE),
                        .target =
                            transfer_linear((uintptr_t)dstHost, ByteCount, host_place(dstHost))};
    if (copy.target.place != MEMORY_TYPE_PAGEABLE) /* else the driver waits, and csan works then */
        deferred_flush();
    CUresult result =
        DRIVER_REAL(entry, cuMemcpyDtoHAsync_v3020)(dstHost, srcDevice, ByteCount, hStream);
    copy_end(&copy, result);
    return result;
}

CUresult hook_copy_device_to_device(const struct driver_entry *entry, CUdeviceptr_v2 dstDevice,
                                    CUdeviceptr_v2 srcDevice, size_t ByteCount)
{
    struct copy copy = {.entry = entry,
                        .source = transfer_linear(srcDevice, ByteCount, MEMORY_TYPE_DEVICE),
                        .target = transfer_linear(dstDevice, ByteCount, MEMORY_TYPE_DEVICE)};
    CUresult result = DRIVER_REAL(entry, cuMemcpyDtoD_v3020)(dstDevice, srcDevice, ByteCount);
    copy_end(&copy, result);
    return result;
}

CUresult hook_copy_device_to_device_async(const struct driver_entry *entry,
                                          CUdeviceptr_v2 dstDevice, CUdeviceptr_v2 srcDevice,
                                          size_t ByteCount, CUstream hStream)
{
    struct copy copy = {.entry = entry,
                        .stream = hStream,
                        .async = true,
                        .source = transfer_linear(srcDevice, ByteCount, MEMORY_TYPE_DEVICE),
                        .target = transfer_linear(dstDevice, ByteCount, MEMORY_TYPE_DEVICE)};
    CUresult result =
        DRIVER_REAL(entry, cuMemcpyDtoDAsync_v3020)(dstDevice, srcDevice, ByteCount, hStream);
    copy_end_later(&copy, result);
    return result;
}

CUresult hook_copy_peer(const struct driver_entry *entry, CUdeviceptr_v2 dstDevice,
                        CUcontext dstContext, CUdeviceptr_v2 srcDevice, CUcontext srcContext,
                        size_t ByteCount)
{
    struct copy copy = {.entry = entry,
                        .peer = true,
                        .source_context = srcContext,
                        .target_context = dstContext,
                        .source = transfer_linear(srcDevice, ByteCount, MEMORY_TYPE_DEVICE),
                        .target = transfer_linear(dstDevice, ByteCount, MEMORY_TYPE_DEVICE)};
    CUresult result = DRIVER_REAL(entry, cuMemcpyPeer_v4000)(dstDevice, dstContext, srcDevice,
                                                             srcContext, ByteCount);
    copy_end(&copy, result);
    return result;
}

CUresult hook_copy_peer_async(const struct driver_entry *entry, CUdeviceptr_v2 dstDevice,
                              CUcontext dstContext, CUdeviceptr_v2 srcDevice, CUcontext srcContext,
                              size_t ByteCount, CUstream hStream)
{
    struct copy copy = {.entry = entry,
                        .stream = hStream,
                        .async = true,
                        .source = transfer_linear(srcDevice, ByteCount, MEMORY_TYPE_DEVICE),
                        .target = transfer_linear(dstDevice, ByteCount, MEMORY_TYPE_DEVICE)};
    CUresult result = DRIVER_REAL(entry, cuMemcpyPeerAsync_v4000)(dstDevice, dstContext, srcDevice,
                                                                  srcContext, ByteCount, hStream);
    copy_end(&copy, result);
    return result;
}

/* ---- Between an array and linear memory ---- */

/* Bytes of an array from an offset; an unknown array is reported once. */
static struct transfer_side linear_of_array(CUarray handle, size_t offset, size_t bytes)
{
    struct array_range range;
    struct transfer_side side = {.row_bytes = bytes, .place = MEMORY_TYPE_DEVICE, .is_array = true};
    if (array_find(handle, &range)) {
        side.is_array = false;
        side.base = range.base + offset;
    }
    return side;
}

static struct transfer_side linear_device(CUdeviceptr_v2 base, size_t bytes)
{
    return transfer_linear(base, bytes, MEMORY_TYPE_DEVICE);
}

static struct transfer_side linear_host(const void *base, size_t bytes)
{
    return transfer_linear((uintptr_t)base, bytes, host_place(base));
}

#define ARRAY_HOOK(call, from, to, ...)                                                            \
    struct copy copy = {.entry = entry, .source = from, .target = to, ##__VA_ARGS__};              \
    copy_begin(&copy);                                                                             \
    CUresult result = call;                                                                        \
    copy_end(&copy, result);                                                                       \
    return result

CUresult hook_copy_device_to_array(const struct driver_entry *entry, CUarray dstArray,
                                   size_t dstOffset, CUdeviceptr_v2 srcDevice, size_t ByteCount)
{
    ARRAY_HOOK(DRIVER_REAL(entry, cuMemcpyDtoA_v3020)(dstArray, dstOffset, srcDevice, ByteCount),
               linear_device(srcDevice, ByteCount),
               linear_of_array(dstArray, dstOffset, ByteCount));
}

CUresult hook_copy_array_to_device(const struct driver_entry *entry, CUdeviceptr_v2 dstDevice,
                                   CUarray srcArray, size_t srcOffset, size_t ByteCount)
{
    ARRAY_HOOK(DRIVER_REAL(entry, cuMemcpyAtoD_v3020)(dstDevice, srcArray, srcOffset, ByteCount),
               linear_of_array(srcArray, srcOffset, ByteCount),
               linear_device(dstDevice, ByteCount));
}

CUresult hook_copy_array_to_array(const struct driver_entry *entry, CUarray dstArray,
                                  size_t dstOffset, CUarray srcArray, size_t srcOffset,
                                  size_t ByteCount)
{
    ARRAY_HOOK(
        DRIVER_REAL(entry, cuMemcpyAtoA_v3020)(dstArray, dstOffset, srcArray, srcOffset, ByteCount),
        linear_of_array(srcArray, srcOffset, ByteCount),
        linear_of_array(dstArray, dstOffset, ByteCount));
}

CUresult hook_copy_host_to_array(const struct driver_entry *entry, CUarray dstArray,
                                 size_t dstOffset, const void *srcHost, size_t ByteCount)
{
    ARRAY_HOOK(DRIVER_REAL(entry, cuMemcpyHtoA_v3020)(dstArray, dstOffset, srcHost, ByteCount),
               linear_host(srcHost, ByteCount), linear_of_array(dstArray, dstOffset, ByteCount));
}

CUresult hook_copy_array_to_host(const struct driver_entry *entry, void *dstHost, CUarray srcArray,
                                 size_t srcOffset, size_t ByteCount)
{
    ARRAY_HOOK(DRIVER_REAL(entry, cuMemcpyAtoH_v3020)(dstHost, srcArray, srcOffset, ByteCount),
               linear_of_array(srcArray, srcOffset, ByteCount), linear_host(dstHost, ByteCount));
}

CUresult hook_copy_host_to_array_async(const struct driver_entry *entry, CUarray dstArray,
                                       size_t dstOffset, const void *srcHost, size_t ByteCount,
                                       CUstream hStream)
{
    ARRAY_HOOK(DRIVER_REAL(entry, cuMemcpyHtoAAsync_v3020)(dstArray, dstOffset, srcHost, ByteCount,
                                                           hStream),
               linear_host(srcHost, ByteCount), linear_of_array(dstArray, dstOffset, ByteCount),
               .stream = hStream, .async = true);
}

CUresult hook_copy_array_to_host_async(const struct driver_entry *entry, void *dstHost,
                                       CUarray srcArray, size_t srcOffset, size_t ByteCount,
                                       CUstream hStream)
{
    ARRAY_HOOK(DRIVER_REAL(entry, cuMemcpyAtoHAsync_v3020)(dstHost, srcArray, srcOffset, ByteCount,
                                                           hStream),
               linear_of_array(srcArray, srcOffset, ByteCount), linear_host(dstHost, ByteCount),
               .stream = hStream, .async = true);
}

/* ---- Two- and three-dimensional ---- */

static void copy_3d_peer(struct copy *copy, const CUDA_MEMCPY3D_PEER_v1 *what)
{
    if (!what)
        return;
    transfer_3d_peer(&copy->source, &copy->target, what);
    copy->peer = true;
    copy->source_context = what->srcContext;
    copy->target_context = what->dstContext;
}

CUresult hook_copy_2d(const struct driver_entry *entry, const CUDA_MEMCPY2D_v2 *pCopy)
{
    struct copy copy = {.entry = entry};
    transfer_2d(&copy.source, &copy.target, pCopy);
    copy_begin(&copy);
    CUresult result = DRIVER_REAL(entry, cuMemcpy2D_v3020)(pCopy);
    copy_end(&copy, result);
    return result;
}

CUresult hook_copy_2d_unaligned(const struct driver_entry *entry, const CUDA_MEMCPY2D_v2 *pCopy)
{
    return hook_copy_2d(entry, pCopy); /* the same type and meaning, slower */
}

CUresult hook_copy_2d_async(const struct driver_entry *entry, const CUDA_MEMCPY2D_v2 *pCopy,
                            CUstream hStream)
{
    struct copy copy = {.entry = entry, .stream = hStream, .async = true};
    transfer_2d(&copy.source, &copy.target, pCopy);
    copy_begin(&copy);
    CUresult result = DRIVER_REAL(entry, cuMemcpy2DAsync_v3020)(pCopy, hStream);
    copy_end(&copy, result);
    return result;
}

CUresult hook_copy_3d(const struct driver_entry *entry, const CUDA_MEMCPY3D_v2 *pCopy)
{
    struct copy copy = {.entry = entry};
    transfer_3d(&copy.source, &copy.target, pCopy);
    copy_begin(&copy);
    CUresult result = DRIVER_REAL(entry, cuMemcpy3D_v3020)(pCopy);
    copy_end(&copy, result);
    return result;
}

CUresult hook_copy_3d_async(const struct driver_entry *entry, const CUDA_MEMCPY3D_v2 *pCopy,
                            CUstream hStream)
{
    struct copy copy = {.entry = entry, .stream = hStream, .async = true};
    transfer_3d(&copy.source, &copy.target, pCopy);
    copy_begin(&copy);
    CUresult result = DRIVER_REAL(entry, cuMemcpy3DAsync_v3020)(pCopy, hStream);
    copy_end(&copy, result);
    return result;
}

CUresult hook_copy_3d_peer(const struct driver_entry *entry, const CUDA_MEMCPY3D_PEER_v1 *pCopy)
{
    struct copy copy = {.entry = entry};
    copy_3d_peer(&copy, pCopy);
    copy_begin(&copy);
    CUresult result = DRIVER_REAL(entry, cuMemcpy3DPeer_v4000)(pCopy);
    copy_end(&copy, result);
    return result;
}

CUresult hook_copy_3d_peer_async(const struct driver_entry *entry,
                                 const CUDA_MEMCPY3D_PEER_v1 *pCopy, CUstream hStream)
{
    struct copy copy = {.entry = entry, .stream = hStream, .async = true};
    copy_3d_peer(&copy, pCopy);
    copy_begin(&copy);
    CUresult result = DRIVER_REAL(entry, cuMemcpy3DPeerAsync_v4000)(pCopy, hStream);
    copy_end(&copy, result);
    return result;
}
