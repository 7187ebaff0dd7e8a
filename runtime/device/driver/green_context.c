/* Green contexts (CUDA Driver API, "Green Contexts"): partitions of a device's multiprocessors.
 * Here they have streams of their own, and share code and memory with the device's primary context;
 * their number of multiprocessors is only a number. And events of whole contexts, which cover or
 * hold back a primary context's green ones, too. */
#include "runtime/device/driver/graph/graph.h"

#include <stdlib.h>
#include <string.h>

enum { MULTIPROCESSORS = 132, SMALLEST_PARTITION = 8 };

struct CUdevResourceDesc_st {
    unsigned count; /* of multiprocessors */
};

struct CUgreenCtx_st {
    struct object object;
    struct CUctx_st *context;
    unsigned count;
};

/* ---- Resources ------------------------------------------------------------------------------- */

static CUdevResource resource_of(unsigned count)
{
    CUdevResource resource = {.type = CU_DEV_RESOURCE_TYPE_SM};
    resource.sm.smCount = count;
    resource.sm.minSmPartitionSize = resource.sm.smCoscheduledAlignment = SMALLEST_PARTITION;
    return resource;
}

CUresult CUDAAPI cuDeviceGetDevResource(CUdevice dev, CUdevResource *resource,
                                        CUdevResourceType type)
{
    CUresult result = device_enter();
    if (result != CUDA_SUCCESS)
        return result;
    if (!device_exists(dev))
        return device_leave(CUDA_ERROR_INVALID_DEVICE);
    if (!resource || type != CU_DEV_RESOURCE_TYPE_SM)
        return device_leave(CUDA_ERROR_INVALID_RESOURCE_TYPE);
    *resource = resource_of(MULTIPROCESSORS);
    return device_leave(CUDA_SUCCESS);
}

/* Groups of the size asked for, rounded up, and what is left. */
CUresult CUDAAPI cuDevSmResourceSplitByCount(CUdevResource *result, unsigned int *nbGroups,
                                             const CUdevResource *input, CUdevResource *remaining,
                                             unsigned int useFlags, unsigned int minCount)
{
    const unsigned known = CU_DEV_SM_RESOURCE_SPLIT_IGNORE_SM_COSCHEDULING |
                           CU_DEV_SM_RESOURCE_SPLIT_MAX_POTENTIAL_CLUSTER_SIZE;
    if (!nbGroups || !input || input->type != CU_DEV_RESOURCE_TYPE_SM || useFlags & ~known)
        return CUDA_ERROR_INVALID_VALUE;
    unsigned size = minCount ? (minCount + SMALLEST_PARTITION - 1) / SMALLEST_PARTITION : 1;
    size *= SMALLEST_PARTITION;
    unsigned most = input->sm.smCount / size;
    if (!most)
        return CUDA_ERROR_INVALID_RESOURCE_CONFIGURATION;
    if (!result || *nbGroups > most)
        *nbGroups = most;
    for (unsigned i = 0; result && i < *nbGroups; i++)
        result[i] = resource_of(size);
    if (result && remaining)
        *remaining = resource_of(input->sm.smCount - *nbGroups * size);
    return CUDA_SUCCESS;
}

/* Descriptors have no end in the API. */
CUresult CUDAAPI cuDevResourceGenerateDesc(CUdevResourceDesc *phDesc, CUdevResource *resources,
                                           unsigned int nbResources)
{
    if (!phDesc || !resources || !nbResources)
        return CUDA_ERROR_INVALID_VALUE;
    struct CUdevResourceDesc_st *description = calloc(1, sizeof *description);
    if (!description)
        return CUDA_ERROR_OUT_OF_MEMORY;
    for (unsigned i = 0; i < nbResources; i++)
        description->count += resources[i].sm.smCount;
    *phDesc = description;
    return CUDA_SUCCESS;
}

/* ---- Contexts -------------------------------------------------------------------------------- */

CUresult CUDAAPI cuGreenCtxCreate(CUgreenCtx *phCtx, CUdevResourceDesc desc, CUdevice dev,
                                  unsigned int flags)
{
    CUcontext primary;
    if (!phCtx || !desc || flags != CU_GREEN_CTX_DEFAULT_STREAM)
        return CUDA_ERROR_INVALID_VALUE;
    CUresult result = cuDevicePrimaryCtxRetain(&primary, dev);
    if (result != CUDA_SUCCESS || (result = device_enter()) != CUDA_SUCCESS)
        return result;
    struct CUgreenCtx_st *green = calloc(1, sizeof *green);
    struct CUctx_st *context = green ? context_create(dev, 0, false) : NULL;
    if (!context) {
        free(green);
        return device_leave(CUDA_ERROR_OUT_OF_MEMORY);
    }
    context->home = primary;
    if (primary->initial_mark)
        context->initial_mark = mark_retain(primary->initial_mark);
    green_stream_created(context->legacy);
    green->context = context;
    green->count = desc->count;
    object_add(&green->object, OBJECT_GREEN);
    *phCtx = green;
    return device_leave(CUDA_SUCCESS);
}

/* Entered when it succeeds. */
static CUresult enter(CUgreenCtx handle, struct CUgreenCtx_st **green)
{
    CUresult result = device_enter();
    if (result != CUDA_SUCCESS)
        return result;
    *green = object_find(handle, OBJECT_GREEN);
    return *green ? CUDA_SUCCESS : device_leave(CUDA_ERROR_INVALID_HANDLE);
}

CUresult CUDAAPI cuGreenCtxDestroy(CUgreenCtx hCtx)
{
    struct CUgreenCtx_st *green;
    CUresult result = enter(hCtx, &green);
    if (result != CUDA_SUCCESS)
        return result;
    int ordinal = green->context->ordinal;
    object_remove(&green->object);
    context_destroy(green->context);
    free(green);
    device_leave(CUDA_SUCCESS);
    return cuDevicePrimaryCtxRelease_v2(ordinal);
}

CUresult CUDAAPI cuCtxFromGreenCtx(CUcontext *pContext, CUgreenCtx hCtx)
{
    struct CUgreenCtx_st *green;
    CUresult result = enter(hCtx, &green);
    if (result != CUDA_SUCCESS)
        return result;
    if (!pContext)
        return device_leave(CUDA_ERROR_INVALID_VALUE);
    *pContext = green->context;
    return device_leave(CUDA_SUCCESS);
}

CUresult CUDAAPI cuGreenCtxGetDevResource(CUgreenCtx hCtx, CUdevResource *resource,
                                          CUdevResourceType type)
{
    struct CUgreenCtx_st *green;
    CUresult result = enter(hCtx, &green);
    if (result != CUDA_SUCCESS)
        return result;
    if (!resource || type != CU_DEV_RESOURCE_TYPE_SM)
        return device_leave(CUDA_ERROR_INVALID_RESOURCE_TYPE);
    *resource = resource_of(green->count);
    return device_leave(CUDA_SUCCESS);
}

CUresult CUDAAPI cuGreenCtxStreamCreate(CUstream *phStream, CUgreenCtx greenCtx, unsigned int flags,
                                        int priority)
{
    struct CUgreenCtx_st *green;
    CUresult result = enter(greenCtx, &green);
    if (result != CUDA_SUCCESS)
        return result;
    if (!phStream || flags != CU_STREAM_NON_BLOCKING) /* "This must be specified." */
        return device_leave(CUDA_ERROR_INVALID_VALUE);
    struct CUstream_st *stream = stream_create(green->context, flags, priority);
    if (!stream)
        return device_leave(CUDA_ERROR_OUT_OF_MEMORY);
    green_stream_created(stream);
    *phStream = stream;
    return device_leave(CUDA_SUCCESS);
}

CUgreenCtx green_of_stream(CUstream handle)
{
    CUgreenCtx found = NULL;
    device_lock();
    const struct CUstream_st *stream = object_find(handle, OBJECT_STREAM);
    for (struct object *object = stream ? device.objects : NULL; object && !found;
         object = object->hh.next)
        if (object->kind == OBJECT_GREEN &&
            ((struct CUgreenCtx_st *)object)->context == stream->context)
            found = (struct CUgreenCtx_st *)object;
    device_unlock();
    return found;
}

CUresult CUDAAPI cuStreamGetGreenCtx(CUstream hStream, CUgreenCtx *phCtx)
{
    if (!phCtx)
        return CUDA_ERROR_INVALID_VALUE;
    *phCtx = green_of_stream(hStream);
    return CUDA_SUCCESS;
}

/* ---- Events of contexts ---------------------------------------------------------------------- */

static bool is_within(const struct CUctx_st *part, const struct CUctx_st *whole)
{
    return part == whole || part->home == whole;
}

static bool is_captured(const struct CUctx_st *whole)
{
    for (const struct CUctx_st *context = device.contexts; context; context = context->next)
        for (const struct CUstream_st *stream = is_within(context, whole) ? context->streams : NULL;
             stream; stream = stream->next)
            if (stream->capture)
                return true;
    return false;
}

/* The branch waits for the end so far of all streams of the context. */
static CUresult gather(struct CUctx_st *context, struct CUstream_st *branch)
{
    CUresult result = CUDA_SUCCESS;
    for (struct CUstream_st *stream = context->streams; stream && result == CUDA_SUCCESS;
         stream = stream->next) {
        struct mark *end = stream == branch || !stream->head ? NULL : mark_create();
        if (!end)
            continue;
        mark_retain(end);
        result = queue_append_marker(stream, end, NULL);
        if (result == CUDA_SUCCESS)
            result = queue_append_marker(branch, NULL, end);
        else
            mark_release(end);
    }
    return result;
}

static CUresult record(struct CUctx_st *whole, CUevent handle)
{
    struct CUevent_st *event = object_find(handle, OBJECT_EVENT);
    if (!event)
        return CUDA_ERROR_INVALID_HANDLE;
    if (is_captured(whole))
        return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
    struct CUstream_st *branch = stream_create_branch(whole);
    struct mark *all = mark_create();
    CUresult result = branch && all ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
    for (struct CUctx_st *context = device.contexts; context && result == CUDA_SUCCESS;
         context = context->next)
        if (is_within(context, whole))
            result = gather(context, branch);
    if (result == CUDA_SUCCESS)
        result = queue_append_marker(branch, mark_retain(all), NULL);
    if (result == CUDA_SUCCESS) {
        capture_forget_event(event);
        mark_release(event->mark);
        event->mark = mark_retain(all);
    }
    mark_release(all);
    if (branch)
        stream_abandon(branch);
    schedule_enqueued();
    return result;
}

void green_stream_created(struct CUstream_st *stream)
{
    struct mark *initial_mark = stream->context->initial_mark;
    if (initial_mark && !initial_mark->done)
        queue_append_marker(stream, NULL, mark_retain(initial_mark));
}

/* All streams wait, and those made later for a mark that is passed behind this and earlier waits.
 */
static CUresult hold_back(struct CUctx_st *context, struct mark *mark)
{
    struct mark *both = mark_create();
    struct CUstream_st *branch = both ? stream_create_branch(context) : NULL;
    CUresult result = CUDA_SUCCESS;
    if (!branch) {
        mark_release(both);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    for (struct CUstream_st *stream = context->streams; stream && result == CUDA_SUCCESS;
         stream = stream->next)
        if (!stream->branch)
            result = queue_append_marker(stream, NULL, mark_retain(mark));
    if (context->initial_mark && result == CUDA_SUCCESS)
        result = queue_append_marker(branch, NULL, mark_retain(context->initial_mark));
    if (result == CUDA_SUCCESS)
        result = queue_append_marker(branch, mark_retain(both), mark_retain(mark));
    mark_release(context->initial_mark);
    context->initial_mark = both;
    stream_abandon(branch);
    return result;
}

static CUresult wait_for(struct CUctx_st *whole, CUevent handle)
{
    struct CUevent_st *event = object_find(handle, OBJECT_EVENT);
    CUresult result = CUDA_SUCCESS;
    if (!event)
        return CUDA_ERROR_INVALID_HANDLE;
    if (is_captured(whole) || capture_has_event(event))
        return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
    if (!event->mark || event->mark->done)
        return CUDA_SUCCESS;
    for (struct CUctx_st *context = device.contexts; context && result == CUDA_SUCCESS;
         context = context->next)
        if (is_within(context, whole))
            result = hold_back(context, event->mark);
    schedule_enqueued();
    return result;
}

CUresult CUDAAPI cuGreenCtxRecordEvent(CUgreenCtx hCtx, CUevent hEvent)
{
    struct CUgreenCtx_st *green;
    CUresult result = enter(hCtx, &green);
    return result == CUDA_SUCCESS ? device_leave(record(green->context, hEvent)) : result;
}

CUresult CUDAAPI cuGreenCtxWaitEvent(CUgreenCtx hCtx, CUevent hEvent)
{
    struct CUgreenCtx_st *green;
    CUresult result = enter(hCtx, &green);
    return result == CUDA_SUCCESS ? device_leave(wait_for(green->context, hEvent)) : result;
}

CUresult CUDAAPI cuCtxRecordEvent(CUcontext hCtx, CUevent hEvent)
{
    CUresult result = device_enter();
    if (result != CUDA_SUCCESS)
        return result;
    struct CUctx_st *context = object_find(hCtx, OBJECT_CONTEXT);
    return device_leave(context ? record(context, hEvent) : CUDA_ERROR_INVALID_CONTEXT);
}

CUresult CUDAAPI cuCtxWaitEvent(CUcontext hCtx, CUevent hEvent)
{
    CUresult result = device_enter();
    if (result != CUDA_SUCCESS)
        return result;
    struct CUctx_st *context = object_find(hCtx, OBJECT_CONTEXT);
    return device_leave(context ? wait_for(context, hEvent) : CUDA_ERROR_INVALID_CONTEXT);
}
