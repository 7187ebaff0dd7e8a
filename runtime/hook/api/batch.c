/* The hooks of copies in batches: cuMemcpyBatchAsync, cuMemcpy3DBatchAsync and
 * cuFabricCpyBatchAsync; and of single copies with the same attributes.
 *
 * "The batch as a whole executes in stream order but copies within a batch are not guaranteed to
 * execute in any specific order" (CUDA Driver API, cuMemcpyBatchAsync). So copies of one batch that
 * touch the same bytes are enqueued on lanes of their own. When a source is read depends on the
 * copy's attribute: in stream order; before the call returns, which makes it an access of the host;
 * or at any time from the call to the end of the batch. */
#include "csan/base/range_map.h"
#include "csan/shadow/lmad.h"
#include "driver_hooks.h"
#include "runtime/hook/state/array_table.h"
#include "runtime/hook/state/callsite.h"
#include "runtime/hook/state/known_contents.h"
#include "runtime/hook/session/guard.h"
#include "runtime/hook/operator/operator_work.h"
#include "runtime/hook/state/memory_type.h"
#include "runtime/hook/failure/refused_call.h"
#include "runtime/hook/state/stream.h"
#include "runtime/hook/session/counters.h"
#include "runtime/hook/state/thread.h"
#include "runtime/hook/state/stream_memop.h"
#include "runtime/hook/session/session.h"

#include <stdlib.h>

/* One copy of a batch. A side without bytes is memory of another machine. */
struct part {
    struct csan_access source, target;
    struct csan_dim dims[4]; /* two of each */
    CUmemcpySrcAccessOrder order;
};

/* What a part touches from its first byte to its last, to find parts that meet. */
struct hull {
    struct range bytes;
    bool is_write;
};

static const char *const argument_names[] = {"src", "dst"};

/* Without bytes, none. */
static struct hull hull_of(const struct csan_access *access)
{
    struct hull hull = {{access->base, access->base}, access->kind == CSAN_WRITE};
    lmad_hull(access, &hull.bytes.start, &hull.bytes.end);
    return hull;
}

static int by_first(const void *left, const void *right)
{
    const struct hull *a = left, *b = right;
    return a->bytes.start < b->bytes.start ? -1 : a->bytes.start > b->bytes.start;
}

/* Whether some bytes are written by one and touched by another; no memory: they may. */
static bool parts_overlap(const struct part *parts, size_t count)
{
    struct hull *hulls = malloc(2 * count * sizeof *hulls);
    uint64_t touched = 0, written = 0;
    bool meet = hulls == NULL;
    for (size_t i = 0; hulls && i < count; i++) {
        hulls[2 * i] = hull_of(&parts[i].source);
        hulls[2 * i + 1] = hull_of(&parts[i].target);
    }
    if (hulls)
        qsort(hulls, 2 * count, sizeof *hulls, by_first);
    for (size_t i = 0; !meet && i < 2 * count; i++) {
        meet = hulls[i].bytes.start < (hulls[i].is_write ? touched : written);
        if (hulls[i].bytes.end > touched)
            touched = hulls[i].bytes.end;
        if (hulls[i].is_write && hulls[i].bytes.end > written)
            written = hulls[i].bytes.end;
    }
    free(hulls);
    return meet;
}

/* ---- Enqueuing, with the lock held ---- */

struct enqueuing {
    csan_lane lane; /* the stream's */
    uint64_t handle;
    csan_site site;
};

static void enqueue_accesses(csan_lane lane, csan_site site, const struct csan_access *accesses,
                             size_t count)
{
    if (count)
        operator_enqueue(lane, site, CSAN_LEVEL_LIBRARY, true, accesses, count);
}

/* On a lane of their own, which is ordered after the stream if `behind`, and before what comes. */
static void submit_beside(const struct enqueuing *destination, bool behind,
                          const struct csan_access *accesses, size_t count)
{
    csan_context *detector = session_context();
    csan_lane lane =
        count ? thread_makes_lane(destination->handle, "a batch of copies") : CSAN_NO_LANE;
    if (lane == CSAN_NO_LANE)
        return;
    if (behind)
        csan_lane_waits(detector, lane, destination->lane);
    enqueue_accesses(lane, destination->site, accesses, count);
    csan_lane_waits(detector, destination->lane, lane);
    csan_lane_destroy(detector, lane);
}

static size_t sources_of(const struct part *parts, size_t count, CUmemcpySrcAccessOrder order,
                         struct csan_access *accesses)
{
    size_t found = 0;
    for (size_t i = 0; i < count; i++)
        if (parts[i].order == order && parts[i].source.bytes)
            accesses[found++] = parts[i].source;
    return found;
}

static void enqueue_together(const struct enqueuing *destination, const struct part *parts,
                             size_t count, struct csan_access *accesses)
{
    size_t found = sources_of(parts, count, CU_MEMCPY_SRC_ACCESS_ORDER_DURING_API_CALL, accesses);
    enqueue_accesses(thread_lane(), destination->site, accesses, found);
    thread_enqueues(destination->lane);
    found = sources_of(parts, count, CU_MEMCPY_SRC_ACCESS_ORDER_ANY, accesses);
    submit_beside(destination, false, accesses, found);
    found = sources_of(parts, count, CU_MEMCPY_SRC_ACCESS_ORDER_STREAM, accesses);
    for (size_t i = 0; i < count; i++)
        if (parts[i].target.bytes)
            accesses[found++] = parts[i].target;
    enqueue_accesses(destination->lane, destination->site, accesses, found);
}

/* Each beside the others. */
static void enqueue_apart(const struct enqueuing *destination, const struct part *parts,
                          size_t count)
{
    csan_context *detector = session_context();
    csan_lane before = thread_makes_lane(destination->handle, "a batch of copies");
    if (before == CSAN_NO_LANE)
        return;
    csan_lane_waits(detector, before, destination->lane);
    const struct enqueuing fork = {before, destination->handle, destination->site};
    for (size_t i = 0; i < count; i++) {
        bool in_order = parts[i].order == CU_MEMCPY_SRC_ACCESS_ORDER_STREAM;
        const bool has_source = parts[i].source.bytes, has_target = parts[i].target.bytes;
        const struct csan_access both[] = {has_target ? parts[i].target : parts[i].source,
                                           parts[i].source};
        csan_lane lane = thread_makes_lane(destination->handle, "a copy of a batch");
        if (lane == CSAN_NO_LANE)
            continue;
        if (parts[i].order == CU_MEMCPY_SRC_ACCESS_ORDER_DURING_API_CALL)
            enqueue_accesses(thread_lane(), destination->site, &parts[i].source, 1);
        else if (!in_order)
            enqueue_accesses(lane, destination->site, &parts[i].source, 1);
        csan_lane_waits(detector, lane, fork.lane);
        thread_enqueues(lane);
        enqueue_accesses(lane, destination->site, both,
                         (size_t)has_target + (in_order && has_source));
        csan_lane_waits(detector, destination->lane, lane);
        csan_lane_destroy(detector, lane);
    }
    csan_lane_destroy(detector, before);
}

static void parts_overwrite(const struct part *parts, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        struct range bytes = {0};
        if (!lmad_hull(&parts[i].target, &bytes.start, &bytes.end))
            continue;
        const uint64_t length = bytes.end - bytes.start;
        known_contents_written(bytes.start, length, NULL,
                               memory_type_may_be_constant(bytes.start, length));
        stream_memop_overwritten(bytes.start, length);
    }
}

static void enqueue_batch(const struct driver_entry *entry, CUstream handle,
                          const struct part *parts, size_t count)
{
    struct callsite_stack stack;
    struct csan_access *accesses = malloc((2 * count + 1) * sizeof *accesses);
    if (!accesses || !count) {
        free(accesses);
        return;
    }
    callsite_capture(&stack);
    csan_site site = operator_site(&stack, entry->name, argument_names, 2);
    struct stream *stream = NULL;
    if (stream_is_capturing(handle, entry->thread_default)) {
        size_t found = 0;
        for (size_t i = 0; i < count; i++) {
            if (parts[i].source.bytes)
                accesses[found++] = parts[i].source;
            if (parts[i].target.bytes)
                accesses[found++] = parts[i].target;
        }
        operator_capture(handle, entry->thread_default, site, CSAN_LEVEL_LIBRARY, true, accesses,
                         found);
    } else if ((stream = stream_lock(handle, entry->thread_default)) != NULL) {
        const struct enqueuing destination = {stream_lane(stream), (uintptr_t)handle, site};
        stream_use(stream);
        parts_overwrite(parts, count);
        if (parts_overlap(parts, count))
            enqueue_apart(&destination, parts, count);
        else
            enqueue_together(&destination, parts, count, accesses);
        guard_unlock();
    }
    free(accesses);
}

/* ---- Linear ---- */

static struct csan_access linear(CUdeviceptr_v2 base, size_t bytes, int kind)
{
    return (struct csan_access){
        .base = base, .bytes = bytes, .kind = (uint8_t)kind, .argument = kind != CSAN_READ};
}

static void read_linear(const struct driver_entry *entry, CUdeviceptr_v2 *dsts,
                        CUdeviceptr_v2 *srcs, size_t *sizes, size_t count,
                        const CUmemcpyAttributes_v1 *attrs, const size_t *attrIdxs, size_t numAttrs,
                        CUstream handle)
{
    struct part *parts = calloc(count + 1, sizeof *parts);
    size_t found = 0, set = 0;
    for (size_t i = 0; parts && i < count; i++) {
        while (set + 1 < numAttrs && attrIdxs[set + 1] <= i)
            set++;
        if (sizes[i])
            parts[found++] = (struct part){.source = linear(srcs[i], sizes[i], CSAN_READ),
                                           .target = linear(dsts[i], sizes[i], CSAN_WRITE),
                                           .order = attrs[set].srcAccessOrder};
    }
    if (parts)
        enqueue_batch(entry, handle, parts, found);
    free(parts);
}

/* Of lists that the driver may have found wrong itself. */
static void batch_refused(const struct driver_entry *entry, const CUdeviceptr_v2 *dsts,
                          const CUdeviceptr_v2 *srcs, const size_t *sizes, size_t count,
                          CUstream handle)
{
    struct callsite_stack stack;
    if (!dsts || !srcs || !sizes)
        return;
    callsite_capture(&stack);
    const csan_site site = callsite_intern(&stack, entry->name, argument_names, 2);
    for (size_t i = 0; i < count; i++) {
        const struct csan_access accesses[] = {linear(srcs[i], sizes[i], CSAN_READ),
                                               linear(dsts[i], sizes[i], CSAN_WRITE)};
        refused_call_copy(&(struct refused){entry, handle, site, accesses, sizes[i] ? 2 : 0});
    }
}

CUresult hook_copy_batch_async(const struct driver_entry *entry, CUdeviceptr_v2 *dsts,
                               CUdeviceptr_v2 *srcs, size_t *sizes, size_t count,
                               CUmemcpyAttributes_v1 *attrs, size_t *attrIdxs, size_t numAttrs,
                               CUstream hStream)
{
    CUresult result = DRIVER_REAL(entry, cuMemcpyBatchAsync_v13000)(dsts, srcs, sizes, count, attrs,
                                                                    attrIdxs, numAttrs, hStream);
    if (result == CUDA_SUCCESS)
        read_linear(entry, dsts, srcs, sizes, count, attrs, attrIdxs, numAttrs, hStream);
    else if (refused_call_matters(result))
        batch_refused(entry, dsts, srcs, sizes, count, hStream);
    return result;
}

CUresult hook_copy_batch_async_v1(const struct driver_entry *entry, CUdeviceptr_v2 *dsts,
                                  CUdeviceptr_v2 *srcs, size_t *sizes, size_t count,
                                  CUmemcpyAttributes_v1 *attrs, size_t *attrIdxs, size_t numAttrs,
                                  size_t *failIdx, CUstream hStream)
{
    CUresult result = DRIVER_REAL(entry, cuMemcpyBatchAsync_v12080)(
        dsts, srcs, sizes, count, attrs, attrIdxs, numAttrs, failIdx, hStream);
    if (result == CUDA_SUCCESS)
        read_linear(entry, dsts, srcs, sizes, count, attrs, attrIdxs, numAttrs, hStream);
    else if (refused_call_matters(result))
        batch_refused(entry, dsts, srcs, sizes, count, hStream);
    return result;
}

CUresult hook_copy_with_attributes_async(const struct driver_entry *entry, CUdeviceptr_v2 dst,
                                         CUdeviceptr_v2 src, size_t size,
                                         CUmemcpyAttributes_v1 *attr, CUstream hStream)
{
    const size_t first[] = {0};
    CUresult result =
        DRIVER_REAL(entry, cuMemcpyWithAttributesAsync_v13020)(dst, src, size, attr, hStream);
    if (result == CUDA_SUCCESS && attr)
        read_linear(entry, &dst, &src, &size, 1, attr, first, 1, hStream);
    else if (refused_call_matters(result))
        batch_refused(entry, &dst, &src, &size, 1, hStream);
    return result;
}

/* ---- Over a fabric ---- */

static struct csan_access fabric_side(const CUfabricCpyOperand *operand, size_t bytes, int kind)
{
    const bool here = operand->type == CU_FABRIC_COPY_OPERAND_TYPE_POINTER;
    return linear(here ? operand->op.ptr.ptr : 0, here ? bytes : 0, kind);
}

/* "Source and destination are always accessed in stream order." What an endpoint leads to is
 * memory of another process, which its own csan may see. */
CUresult hook_fabric_copy_batch_async(const struct driver_entry *entry, size_t numOps,
                                      CUDA_FABRIC_COPY_BATCH_OP_v1 *opList,
                                      unsigned long long flags, CUstream hStream)
{
    CUresult result =
        DRIVER_REAL(entry, cuFabricCpyBatchAsync_v13050)(numOps, opList, flags, hStream);
    struct part *parts =
        result == CUDA_SUCCESS && opList ? calloc(numOps + 1, sizeof *parts) : NULL;
    size_t found = 0;
    for (size_t i = 0; parts && i < numOps; i++)
        if (opList[i].size)
            parts[found++] =
                (struct part){.source = fabric_side(&opList[i].src, opList[i].size, CSAN_READ),
                              .target = fabric_side(&opList[i].dst, opList[i].size, CSAN_WRITE),
                              .order = CU_MEMCPY_SRC_ACCESS_ORDER_STREAM};
    if (parts)
        enqueue_batch(entry, hStream, parts, found);
    free(parts);
    return result;
}

/* ---- Three-dimensional ---- */

/* Where an operand lies, and how large its elements are; false: an array that csan does not know.
 */
static bool operand_find(const CUmemcpy3DOperand_v1 *operand, struct array_range *range)
{
    *range = (struct array_range){.base = operand->op.ptr.ptr, .element_bytes = 1};
    if (operand->type != CU_MEMCPY_OPERAND_TYPE_ARRAY)
        return true;
    const CUoffset3D *offset = &operand->op.array.offset;
    if (!array_find(operand->op.array.array, range))
        return false;
    range->base +=
        offset->z * range->plane + offset->y * range->pitch + offset->x * range->element_bytes;
    return true;
}

/* "For pointer-to-pointer copies, the element size is considered to be 1. For pointer to CUDA array
 * or vice versa copies, the element size is determined by the CUDA array"; a row length or layer
 * height of zero is tightly packed. */
static struct csan_access box(const CUmemcpy3DOperand_v1 *operand, const struct array_range *range,
                              const CUextent3D *extent, uint64_t element, int kind,
                              struct csan_dim *dims)
{
    size_t row = operand->op.ptr.rowLength ? operand->op.ptr.rowLength : extent->width;
    size_t rows = operand->op.ptr.layerHeight ? operand->op.ptr.layerHeight : extent->height;
    bool is_array = operand->type == CU_MEMCPY_OPERAND_TYPE_ARRAY;
    uint64_t pitch = is_array ? range->pitch : row * element;
    uint64_t plane = is_array ? range->plane : pitch * rows;
    struct csan_access access = linear(range->base, extent->width * element, kind);
    access.dims = dims;
    if (extent->height > 1)
        dims[access.dim_count++] = (struct csan_dim){(int64_t)pitch, extent->height};
    if (extent->depth > 1)
        dims[access.dim_count++] = (struct csan_dim){(int64_t)plane, extent->depth};
    return access;
}

static void read_boxes(const struct driver_entry *entry, const CUDA_MEMCPY3D_BATCH_OP_v1 *list,
                       size_t count, CUstream handle)
{
    struct part *parts = calloc(count + 1, sizeof *parts);
    size_t found = 0;
    for (size_t i = 0; parts && i < count; i++) {
        const CUDA_MEMCPY3D_BATCH_OP_v1 *op = &list[i];
        struct array_range source, target;
        if (!operand_find(&op->src, &source) || !operand_find(&op->dst, &target)) {
            counters_unmodelled("copies with CUDA arrays that csan did not see created");
            continue;
        }
        uint64_t element = source.element_bytes > target.element_bytes ? source.element_bytes
                                                                       : target.element_bytes;
        struct part *part = &parts[found++];
        part->order = op->srcAccessOrder;
        part->source = box(&op->src, &source, &op->extent, element, CSAN_READ, part->dims);
        part->target = box(&op->dst, &target, &op->extent, element, CSAN_WRITE, part->dims + 2);
    }
    if (parts)
        enqueue_batch(entry, handle, parts, found);
    free(parts);
}

CUresult hook_copy_3d_batch_async(const struct driver_entry *entry, size_t numParams,
                                  CUDA_MEMCPY3D_BATCH_OP_v1 *opList, unsigned long long flags,
                                  CUstream hStream)
{
    CUresult result =
        DRIVER_REAL(entry, cuMemcpy3DBatchAsync_v13000)(numParams, opList, flags, hStream);
    if (result == CUDA_SUCCESS)
        read_boxes(entry, opList, numParams, hStream);
    return result;
}

CUresult hook_copy_3d_batch_async_v1(const struct driver_entry *entry, size_t numParams,
                                     CUDA_MEMCPY3D_BATCH_OP_v1 *opList, size_t *failIdx,
                                     unsigned long long flags, CUstream hStream)
{
    CUresult result =
        DRIVER_REAL(entry, cuMemcpy3DBatchAsync_v12080)(numParams, opList, failIdx, flags, hStream);
    if (result == CUDA_SUCCESS)
        read_boxes(entry, opList, numParams, hStream);
    return result;
}

CUresult hook_copy_3d_with_attributes_async(const struct driver_entry *entry,
                                            CUDA_MEMCPY3D_BATCH_OP_v1 *op, unsigned long long flags,
                                            CUstream hStream)
{
    CUresult result = DRIVER_REAL(entry, cuMemcpy3DWithAttributesAsync_v13020)(op, flags, hStream);
    if (result == CUDA_SUCCESS && op)
        read_boxes(entry, op, 1, hStream);
    return result;
}
