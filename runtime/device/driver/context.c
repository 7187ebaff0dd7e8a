/* Contexts: the primary one and those of cuCtxCreate, and each thread's stack of current ones.
 * A context owns its streams, modules and events' work, and carries the sticky error of a kernel
 * that failed. Called by programs and by every file that needs "the current context". */
#include "runtime/device/driver/graph/graph.h"
#include "runtime/device/memory/heap.h"
#include "runtime/device/memory/array.h"
#include "runtime/device/module/module.h"

#include <stdlib.h>
#include <string.h>

enum { CONTEXT_STACK = 128 };

static _Thread_local struct {
    struct CUctx_st *contexts[CONTEXT_STACK];
    size_t depth;
} stack;

_Thread_local bool context_in_host_function;

struct CUctx_st *context_current(void)
{
    return stack.depth ? stack.contexts[stack.depth - 1] : NULL;
}

size_t context_limit_default(CUlimit limit)
{
    switch (limit) {
    case CU_LIMIT_STACK_SIZE:
        return 1024;
    case CU_LIMIT_PRINTF_FIFO_SIZE:
        return 1 << 20;
    case CU_LIMIT_MALLOC_HEAP_SIZE:
        return 8 << 20;
    case CU_LIMIT_DEV_RUNTIME_PENDING_LAUNCH_COUNT:
        return 2048;
    case CU_LIMIT_MAX_L2_FETCH_GRANULARITY:
        return 64;
    default:
        return 0;
    }
}

/* "CU_LIMIT_DEV_RUNTIME_SYNC_DEPTH: only applicable to devices of compute capability < 9.0". Of the
 * rest, what an H200's driver answers. */
static CUresult limit_check(CUlimit limit)
{
    if ((unsigned)limit >= CONTEXT_LIMITS)
        return CUDA_ERROR_INVALID_VALUE;
    if (limit == CU_LIMIT_DEV_RUNTIME_SYNC_DEPTH || limit == CU_LIMIT_CIG_SHMEM_FALLBACK_ENABLED)
        return CUDA_ERROR_UNSUPPORTED_LIMIT;
    return CUDA_SUCCESS;
}

struct CUctx_st *context_create(int ordinal, unsigned flags, bool primary)
{
    struct CUctx_st *context = calloc(1, sizeof *context);
    if (!context)
        return NULL;
    context->id = ++device.next_context;
    context->ordinal = ordinal;
    context->primary = primary;
    context->flags = flags;
    for (int limit = 0; limit < CONTEXT_LIMITS; limit++)
        context->limits[limit] = context_limit_default((CUlimit)limit);
    context->legacy = stream_create(context, 0, 0);
    if (!context->legacy) {
        free(context);
        return NULL;
    }
    context->legacy->legacy = true;
    object_add(&context->object, OBJECT_CONTEXT);
    struct CUctx_st **last = &device.contexts;
    while (*last)
        last = &(*last)->next;
    *last = context;
    return context;
}

/* Something of it still runs, or a thread waits for it. */
static bool context_is_busy(const struct CUctx_st *context)
{
    for (const struct CUstream_st *stream = context->streams; stream; stream = stream->next)
        if (stream->head)
            return true;
    return context->waiters != 0;
}

void context_destroy(struct CUctx_st *context)
{
    object_remove(&context->object); /* nobody enters it any more */
    for (struct CUstream_st *stream = context->streams; stream; stream = stream->next)
        queue_discard(stream);
    pthread_cond_broadcast(&device.changed);
    while (context_is_busy(context))
        pthread_cond_wait(&device.changed, &device.lock);
    graph_forget_context(context);
    while (context->streams)
        stream_free(context->streams);
    module_forget_context(context);
    texture_forget(context);
    array_forget(context);
    memory_forget(context);
    heap_forget(context);
    struct CUctx_st **link = &device.contexts;
    while (*link && *link != context)
        link = &(*link)->next;
    if (*link)
        *link = context->next;
    mark_release(context->initial_mark);
    if (device.ordinals[context->ordinal].primary == context)
        device.ordinals[context->ordinal].primary = NULL;
    free(context);
}

int context_ordinal_of_tag(uint32_t tag)
{
    for (const struct CUctx_st *context = device.contexts; context; context = context->next)
        if (memory_tag(context, 0) >> 4 == tag >> 4)
            return context->ordinal;
    return 0;
}

void context_fail(struct CUctx_st *context, CUresult error)
{
    outcome_failed(error);
    if (context->error == CUDA_SUCCESS)
        context->error = error;
    for (struct CUstream_st *stream = context->streams; stream; stream = stream->next)
        queue_discard(stream);
    pthread_cond_broadcast(&device.changed);
}

/* ---- Create, destroy, current -------------------------------------------------------------- */

static CUresult create_context(CUcontext *pctx, unsigned flags, CUdevice dev)
{
    CUresult result = device_enter();
    if (result != CUDA_SUCCESS)
        return result;
    if (!pctx || flags & ~(unsigned)CU_CTX_FLAGS_MASK)
        return device_leave(CUDA_ERROR_INVALID_VALUE);
    if (!device_exists(dev))
        return device_leave(CUDA_ERROR_INVALID_DEVICE);
    if (stack.depth == CONTEXT_STACK)
        return device_leave(CUDA_ERROR_OUT_OF_MEMORY);
    struct CUctx_st *context = context_create(dev, flags, false);
    if (!context)
        return device_leave(CUDA_ERROR_OUT_OF_MEMORY);
    stack.contexts[stack.depth++] = context;
    *pctx = context;
    return device_leave(CUDA_SUCCESS);
}

CUresult CUDAAPI cuCtxCreate_v2(CUcontext *pctx, unsigned int flags, CUdevice dev)
{
    return create_context(pctx, flags, dev);
}

CUresult CUDAAPI cuCtxCreate_v3(CUcontext *pctx, CUexecAffinityParam *paramsArray, int numParams,
                                unsigned int flags, CUdevice dev)
{
    if (paramsArray && numParams > 0)
        return CUDA_ERROR_UNSUPPORTED_EXEC_AFFINITY;
    return create_context(pctx, flags, dev);
}

CUresult CUDAAPI cuCtxCreate_v4(CUcontext *pctx, CUctxCreateParams *ctxCreateParams,
                                unsigned int flags, CUdevice dev)
{
    if (ctxCreateParams && ctxCreateParams->numExecAffinityParams > 0)
        return CUDA_ERROR_UNSUPPORTED_EXEC_AFFINITY;
    return create_context(pctx, flags, dev);
}

CUresult CUDAAPI cuCtxDestroy_v2(CUcontext ctx)
{
    CUresult result = device_enter();
    if (result != CUDA_SUCCESS)
        return result;
    struct CUctx_st *context = object_find(ctx, OBJECT_CONTEXT);
    if (!context || context->primary)
        return device_leave(CUDA_ERROR_INVALID_CONTEXT);
    context_destroy(context);
    /* "If ctx is current to the calling thread then ctx will also be popped." */
    if (context_current() == ctx)
        stack.depth--;
    return device_leave(CUDA_SUCCESS);
}

CUresult CUDAAPI cuCtxPushCurrent_v2(CUcontext ctx)
{
    CUresult result = device_enter();
    if (result != CUDA_SUCCESS)
        return result;
    if (!object_find(ctx, OBJECT_CONTEXT))
        return device_leave(CUDA_ERROR_INVALID_CONTEXT);
    if (stack.depth == CONTEXT_STACK)
        return device_leave(CUDA_ERROR_OUT_OF_MEMORY);
    stack.contexts[stack.depth++] = ctx;
    return device_leave(CUDA_SUCCESS);
}

CUresult CUDAAPI cuCtxPopCurrent_v2(CUcontext *pctx)
{
    CUresult result = device_enter();
    if (result != CUDA_SUCCESS)
        return result;
    if (!stack.depth)
        return device_leave(CUDA_ERROR_INVALID_CONTEXT);
    stack.depth--;
    if (pctx)
        *pctx = stack.contexts[stack.depth];
    return device_leave(CUDA_SUCCESS);
}

CUresult CUDAAPI cuCtxSetCurrent(CUcontext ctx)
{
    CUresult result = device_enter();
    if (result != CUDA_SUCCESS)
        return result;
    if (ctx && !object_find(ctx, OBJECT_CONTEXT))
        return device_leave(CUDA_ERROR_INVALID_CONTEXT);
    if (!ctx) {
        if (stack.depth)
            stack.depth--;
    } else {
        if (!stack.depth)
            stack.depth = 1;
        stack.contexts[stack.depth - 1] = ctx;
    }
    return device_leave(CUDA_SUCCESS);
}

/* Allowed in host functions too: it asks nothing of the device. */
CUresult CUDAAPI cuCtxGetCurrent(CUcontext *pctx)
{
    if (atomic_load(&device.forked) || !device.initialised)
        return CUDA_ERROR_NOT_INITIALIZED;
    if (!pctx)
        return CUDA_ERROR_INVALID_VALUE;
    *pctx = context_current();
    return CUDA_SUCCESS;
}

/* ---- The primary context ------------------------------------------------------------------- */

CUresult CUDAAPI cuDevicePrimaryCtxRetain(CUcontext *pctx, CUdevice dev)
{
    CUresult result = device_enter();
    if (result != CUDA_SUCCESS)
        return result;
    if (!pctx)
        return device_leave(CUDA_ERROR_INVALID_VALUE);
    if (!device_exists(dev))
        return device_leave(CUDA_ERROR_INVALID_DEVICE);
    struct ordinal *ordinal = &device.ordinals[dev];
    if (!ordinal->primary)
        ordinal->primary = context_create(dev, ordinal->primary_flags, true);
    if (!ordinal->primary)
        return device_leave(CUDA_ERROR_OUT_OF_MEMORY);
    ordinal->primary->retained++;
    *pctx = ordinal->primary;
    return device_leave(CUDA_SUCCESS);
}

CUresult CUDAAPI cuDevicePrimaryCtxRelease_v2(CUdevice dev)
{
    CUresult result = device_enter();
    if (result != CUDA_SUCCESS)
        return result;
    if (!device_exists(dev))
        return device_leave(CUDA_ERROR_INVALID_DEVICE);
    struct CUctx_st *primary = device.ordinals[dev].primary;
    if (!primary || !primary->retained)
        return device_leave(CUDA_ERROR_INVALID_CONTEXT);
    if (--primary->retained == 0)
        context_destroy(primary);
    return device_leave(CUDA_SUCCESS);
}

CUresult CUDAAPI cuDevicePrimaryCtxRelease(CUdevice dev)
{
    return cuDevicePrimaryCtxRelease_v2(dev);
}

CUresult CUDAAPI cuDevicePrimaryCtxReset_v2(CUdevice dev)
{
    CUresult result = device_enter();
    if (result != CUDA_SUCCESS)
        return result;
    if (!device_exists(dev))
        return device_leave(CUDA_ERROR_INVALID_DEVICE);
    if (device.ordinals[dev].primary)
        context_destroy(device.ordinals[dev].primary);
    return device_leave(CUDA_SUCCESS);
}

CUresult CUDAAPI cuDevicePrimaryCtxReset(CUdevice dev)
{
    return cuDevicePrimaryCtxReset_v2(dev);
}

CUresult CUDAAPI cuDevicePrimaryCtxSetFlags_v2(CUdevice dev, unsigned int flags)
{
    CUresult result = device_enter();
    if (result != CUDA_SUCCESS)
        return result;
    if (!device_exists(dev))
        return device_leave(CUDA_ERROR_INVALID_DEVICE);
    if (flags & ~(unsigned)CU_CTX_FLAGS_MASK)
        return device_leave(CUDA_ERROR_INVALID_VALUE);
    device.ordinals[dev].primary_flags = flags;
    if (device.ordinals[dev].primary)
        device.ordinals[dev].primary->flags = flags;
    return device_leave(CUDA_SUCCESS);
}

CUresult CUDAAPI cuDevicePrimaryCtxSetFlags(CUdevice dev, unsigned int flags)
{
    return cuDevicePrimaryCtxSetFlags_v2(dev, flags);
}

CUresult CUDAAPI cuDevicePrimaryCtxGetState(CUdevice dev, unsigned int *flags, int *active)
{
    CUresult result = device_enter();
    if (result != CUDA_SUCCESS)
        return result;
    if (!device_exists(dev))
        return device_leave(CUDA_ERROR_INVALID_DEVICE);
    if (!flags || !active)
        return device_leave(CUDA_ERROR_INVALID_VALUE);
    *flags = device.ordinals[dev].primary_flags;
    *active = device.ordinals[dev].primary != NULL;
    return device_leave(CUDA_SUCCESS);
}

/* ---- Synchronize and ask ------------------------------------------------------------------- */

static CUresult synchronize(struct CUctx_st *context)
{
    struct goal goal = goal_context(context);
    CUresult result = schedule_until(&goal, context);
    pool_trim();
    return result;
}

CUresult CUDAAPI cuCtxSynchronize(void)
{
    struct CUctx_st *context;
    CUresult result = device_enter_context(&context);
    if (result != CUDA_SUCCESS)
        return result;
    if ((result = capture_admits_context(context)) != CUDA_SUCCESS)
        return device_leave(result);
    return device_leave(synchronize(context));
}

CUresult CUDAAPI cuCtxSynchronize_v2(CUcontext ctx)
{
    if (!ctx)
        return cuCtxSynchronize();
    CUresult result = device_enter();
    if (result != CUDA_SUCCESS)
        return result;
    struct CUctx_st *context = object_find(ctx, OBJECT_CONTEXT);
    if (!context)
        return device_leave(CUDA_ERROR_INVALID_CONTEXT);
    if ((result = capture_admits_context(context)) != CUDA_SUCCESS)
        return device_leave(result);
    return device_leave(context->error ? context->error : synchronize(context));
}

CUresult CUDAAPI cuCtxGetDevice(CUdevice *dev)
{
    struct CUctx_st *context;
    CUresult result = device_enter_failed(&context);
    if (result != CUDA_SUCCESS)
        return result;
    if (!dev)
        return device_leave(CUDA_ERROR_INVALID_VALUE);
    *dev = context->ordinal;
    return device_leave(CUDA_SUCCESS);
}

CUresult CUDAAPI cuCtxGetDevice_v2(CUdevice *dev, CUcontext ctx)
{
    if (!ctx)
        return cuCtxGetDevice(dev);
    CUresult result = device_enter();
    if (result != CUDA_SUCCESS)
        return result;
    const struct CUctx_st *context = object_find(ctx, OBJECT_CONTEXT);
    if (!context)
        return device_leave(CUDA_ERROR_INVALID_CONTEXT);
    if (!dev)
        return device_leave(CUDA_ERROR_INVALID_VALUE);
    *dev = context->ordinal;
    return device_leave(CUDA_SUCCESS);
}

/* The context named, or the current one when NULL; entered. */
static CUresult enter_named(CUcontext ctx, struct CUctx_st **context)
{
    if (!ctx)
        return device_enter_failed(context);
    CUresult result = device_enter();
    if (result != CUDA_SUCCESS)
        return result;
    *context = object_find(ctx, OBJECT_CONTEXT);
    return *context ? CUDA_SUCCESS : device_leave(CUDA_ERROR_CONTEXT_IS_DESTROYED);
}

CUresult CUDAAPI cuCtxGetId(CUcontext ctx, unsigned long long *ctxId)
{
    struct CUctx_st *context;
    CUresult result = enter_named(ctx, &context);
    if (result != CUDA_SUCCESS)
        return result;
    if (!ctxId)
        return device_leave(CUDA_ERROR_INVALID_VALUE);
    *ctxId = context->id;
    return device_leave(CUDA_SUCCESS);
}

CUresult CUDAAPI cuCtxGetApiVersion(CUcontext ctx, unsigned int *version)
{
    struct CUctx_st *context;
    CUresult result = enter_named(ctx, &context);
    if (result != CUDA_SUCCESS)
        return result;
    if (!version)
        return device_leave(CUDA_ERROR_INVALID_VALUE);
    *version = 3020; /* contexts have had this interface since CUDA 3.2 */
    return device_leave(CUDA_SUCCESS);
}

CUresult CUDAAPI cuCtxGetFlags(unsigned int *flags)
{
    struct CUctx_st *context;
    CUresult result = device_enter_failed(&context);
    if (result != CUDA_SUCCESS)
        return result;
    if (!flags)
        return device_leave(CUDA_ERROR_INVALID_VALUE);
    *flags = context->flags;
    return device_leave(CUDA_SUCCESS);
}

CUresult CUDAAPI cuCtxSetFlags(unsigned int flags)
{
    struct CUctx_st *context;
    CUresult result = device_enter_failed(&context);
    if (result != CUDA_SUCCESS)
        return result;
    if (flags & ~(unsigned)CU_CTX_FLAGS_MASK)
        return device_leave(CUDA_ERROR_INVALID_VALUE);
    context->flags = flags;
    return device_leave(CUDA_SUCCESS);
}

CUresult CUDAAPI cuCtxSetLimit(CUlimit limit, size_t value)
{
    struct CUctx_st *context;
    CUresult result = device_enter_context(&context);
    if (result != CUDA_SUCCESS)
        return result;
    result = limit_check(limit);
    if (result == CUDA_SUCCESS && limit == CU_LIMIT_MALLOC_HEAP_SIZE && heap_is_used(context))
        result = CUDA_ERROR_INVALID_VALUE; /* "must be performed before launching any kernel that
                                              uses the device's malloc" */
    if (result == CUDA_SUCCESS)
        context->limits[limit] = value;
    return device_leave(result);
}

CUresult CUDAAPI cuCtxGetLimit(size_t *pvalue, CUlimit limit)
{
    struct CUctx_st *context;
    CUresult result = device_enter_context(&context);
    if (result != CUDA_SUCCESS)
        return result;
    if (!pvalue)
        return device_leave(CUDA_ERROR_INVALID_VALUE);
    result = limit_check(limit);
    if (result == CUDA_SUCCESS)
        *pvalue = context->limits[limit];
    return device_leave(result);
}

CUresult CUDAAPI cuCtxGetCacheConfig(CUfunc_cache *pconfig)
{
    struct CUctx_st *context;
    CUresult result = device_enter_context(&context);
    if (result != CUDA_SUCCESS)
        return result;
    if (!pconfig)
        return device_leave(CUDA_ERROR_INVALID_VALUE);
    *pconfig = context->cache;
    return device_leave(CUDA_SUCCESS);
}

CUresult CUDAAPI cuCtxSetCacheConfig(CUfunc_cache config)
{
    struct CUctx_st *context;
    CUresult result = device_enter_context(&context);
    if (result != CUDA_SUCCESS)
        return result;
    if ((unsigned)config > CU_FUNC_CACHE_PREFER_EQUAL)
        return device_leave(CUDA_ERROR_INVALID_VALUE);
    context->cache = config;
    return device_leave(CUDA_SUCCESS);
}

CUresult CUDAAPI cuCtxGetSharedMemConfig(CUsharedconfig *pConfig)
{
    struct CUctx_st *context;
    CUresult result = device_enter_context(&context);
    if (result != CUDA_SUCCESS)
        return result;
    if (!pConfig)
        return device_leave(CUDA_ERROR_INVALID_VALUE);
    *pConfig = context->shared;
    return device_leave(CUDA_SUCCESS);
}

CUresult CUDAAPI cuCtxSetSharedMemConfig(CUsharedconfig config)
{
    struct CUctx_st *context;
    CUresult result = device_enter_context(&context);
    if (result != CUDA_SUCCESS)
        return result;
    if ((unsigned)config > CU_SHARED_MEM_CONFIG_EIGHT_BYTE_BANK_SIZE)
        return device_leave(CUDA_ERROR_INVALID_VALUE);
    context->shared = config;
    return device_leave(CUDA_SUCCESS);
}

CUresult CUDAAPI cuCtxResetPersistingL2Cache(void)
{
    struct CUctx_st *context;
    CUresult result = device_enter_context(&context);
    return result != CUDA_SUCCESS ? result : device_leave(CUDA_SUCCESS);
}

/* One device: there is no other context's memory that is not reachable already. */
CUresult CUDAAPI cuCtxEnablePeerAccess(CUcontext peerContext, unsigned int Flags)
{
    struct CUctx_st *context;
    CUresult result = device_enter_context(&context);
    if (result != CUDA_SUCCESS)
        return result;
    if (Flags)
        return device_leave(CUDA_ERROR_INVALID_VALUE);
    const struct CUctx_st *peer = object_find(peerContext, OBJECT_CONTEXT);
    if (!peer)
        return device_leave(CUDA_ERROR_INVALID_CONTEXT);
    if (peer->ordinal == context->ordinal)
        return device_leave(CUDA_ERROR_PEER_ACCESS_UNSUPPORTED);
    if (context->peers & 1u << peer->ordinal)
        return device_leave(CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED);
    context->peers |= 1u << peer->ordinal;
    return device_leave(CUDA_SUCCESS);
}

CUresult CUDAAPI cuCtxDisablePeerAccess(CUcontext peerContext)
{
    struct CUctx_st *context;
    CUresult result = device_enter_context(&context);
    if (result != CUDA_SUCCESS)
        return result;
    const struct CUctx_st *peer = object_find(peerContext, OBJECT_CONTEXT);
    if (!peer)
        return device_leave(CUDA_ERROR_INVALID_CONTEXT);
    if (!(context->peers & 1u << peer->ordinal))
        return device_leave(CUDA_ERROR_PEER_ACCESS_NOT_ENABLED);
    context->peers &= ~(1u << peer->ordinal);
    return device_leave(CUDA_SUCCESS);
}

/* ---- The first versions of these calls, which took the same arguments
 * ------------------------------ */

CUresult CUDAAPI cuCtxDestroy(CUcontext ctx)
{
    return cuCtxDestroy_v2(ctx);
}

/* A context has one user here, since cuCtxAttach is not supported. */
CUresult CUDAAPI cuCtxDetach(CUcontext ctx)
{
    return context_current() == ctx ? cuCtxDestroy_v2(ctx) : CUDA_ERROR_INVALID_CONTEXT;
}

CUresult CUDAAPI cuCtxPushCurrent(CUcontext ctx)
{
    return cuCtxPushCurrent_v2(ctx);
}

CUresult CUDAAPI cuCtxPopCurrent(CUcontext *pctx)
{
    return cuCtxPopCurrent_v2(pctx);
}
