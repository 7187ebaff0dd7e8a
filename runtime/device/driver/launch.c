/* Kernel launches: the driver's calls, from a request (launch_request.h) to an item of a stream
 * (launch_item.h), and of a graph. */
#include "runtime/device/driver/graph/graph.h"
#include "runtime/device/driver/launch_item.h"
#include "runtime/device/driver/launch_request.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static _Thread_local uint64_t last_launch;

/* ---- Launching ----------------------------------------------------------------------------- */

static CUresult give_workspace(struct launch_item *work, const struct CUctx_st *context)
{
    work->workspace = arena_allocate(&device.device_memory, EXEC_GRID_WORKSPACE_BYTES,
                                     memory_tag(context, OWNER_DRIVER), 0);
    if (!work->workspace)
        return CUDA_ERROR_OUT_OF_MEMORY;
    memset(memory_pointer(work->workspace), 0, EXEC_GRID_WORKSPACE_BYTES);
    work->launch.grid_workspace = work->workspace;
    return CUDA_SUCCESS;
}

/* The next launch of a graph. Nobody waits for what it touches: it has no observer. */
static struct item *launch_again(const struct item *item)
{
    const struct launch_item *work = (const struct launch_item *)item;
    size_t bytes = sizeof *work + work->launch.kernel->param_bytes + sizeof(uint64_t);
    struct launch_item *fresh = calloc(1, bytes);
    if (!fresh)
        return NULL;
    fresh->item.step = work->item.step;
    fresh->item.discard = work->item.discard;
    fresh->item.again = work->item.again;
    fresh->module = work->module;
    module_retain(fresh->module);
    fresh->function = work->function;
    fresh->native = work->native;
    fresh->launch = work->launch;
    fresh->launch.params = fresh->params;
    fresh->launch.touches = false;
    memcpy(fresh->params, work->params, work->launch.kernel->param_bytes);
    fresh->launch.grid_id = ++device.trace.launches;
    if (!work->workspace || give_workspace(fresh, work->module->context) == CUDA_SUCCESS)
        return &fresh->item;
    launch_discard(&fresh->item);
    return NULL;
}

/* What the kernel touches is the device's to say. */
static bool is_traced(const struct CUfunc_st *function)
{
    const bool native = function->kernel && function->kernel->native.run;
    return native ? function->kernel->native.traced : !function->module->code->shell;
}

static struct launch_item *make_item(const struct launch_request *request,
                                     const struct CUfunc_st *function, CUresult *result)
{
    const struct ptx_function *ptx = function->ptx;
    struct launch_item *work = calloc(1, sizeof *work + ptx->param_bytes + sizeof(uint64_t));
    *result = CUDA_ERROR_OUT_OF_MEMORY;
    if (!work)
        return NULL;
    work->item.step = launch_step;
    work->item.discard = launch_discard;
    work->item.again = launch_again;
    work->module = function->module;
    work->function = request->handle;
    module_retain(work->module);
    struct exec_launch *launch = &work->launch;
    launch->image = function->module->image;
    launch->kernel = ptx;
    memcpy(launch->grid, request->grid, sizeof launch->grid);
    memcpy(launch->block, request->block, sizeof launch->block);
    memcpy(launch->cluster, request->cluster, sizeof launch->cluster);
    launch->dynamic_shared = request->dynamic_shared;
    launch->params = work->params;
    launch->cooperative = request->cooperative;
    if (function->kernel)
        work->native = function->kernel->native;
    launch->touches = device.trace.done != NULL && is_traced(function);
    *result = launch_request_params(request, ptx, work->params);
    if (*result == CUDA_SUCCESS && request->cooperative)
        *result = give_workspace(work, function->module->context);
    if (*result == CUDA_SUCCESS)
        return work;
    launch_discard(&work->item);
    return NULL;
}

/* Events named by launch attributes. They promise less than the kernel's end; recording them there
 * is the latest, and so the safest, moment allowed. */
static void record_events(const struct launch_request *request, struct CUstream_st *stream)
{
    for (unsigned i = 0; i < request->event_count; i++) {
        struct CUevent_st *event = object_find(request->events[i], OBJECT_EVENT);
        struct mark *mark = mark_create();
        struct item *item = mark ? queue_marker(mark, NULL) : NULL;
        if (!event || !item) {
            mark_release(mark);
            free(item);
            continue;
        }
        capture_forget_event(event);
        mark_release(event->mark);
        event->mark = mark_retain(mark);
        queue_enqueue(stream, item);
    }
}

/* Check all of it, and make the item. */
static struct launch_item *prepare(struct launch_request *request, struct CUctx_st *context,
                                   CUresult *result)
{
    struct CUfunc_st *function;
    char message[512];
    *result = function_resolve(request->handle, context, &function);
    if (*result != CUDA_SUCCESS)
        return NULL;
    bool is_here = function->module->context == context_home(context);
    *result = is_here ? launch_request_check(request, function) : CUDA_ERROR_INVALID_CONTEXT;
    if (*result != CUDA_SUCCESS)
        return NULL;
    if (!exec_prepare(function->module->image, function->ptx, message, sizeof message)) {
        device_say("%s", message);
        *result = CUDA_ERROR_NOT_SUPPORTED;
        return NULL;
    }
    return make_item(request, function, result);
}

/* ---- Kernels that kernels launch: launch_children.c ---- */

struct launch_kin *launch_kin(struct item *kernel)
{
    return &((struct launch_item *)kernel)->kin;
}

exec_state *launch_state(struct item *kernel)
{
    return ((struct launch_item *)kernel)->state;
}

const char *launch_name(struct item *kernel)
{
    return ((struct launch_item *)kernel)->launch.kernel->name;
}

static struct CUfunc_st *kernel_at(const struct launch_item *work, uint64_t address)
{
    for (struct CUfunc_st *function = work->module->functions; function; function = function->next)
        if (exec_image_function_address(work->module->image, function->ptx) == address)
            return function;
    return NULL;
}

uint64_t launch_param_bytes(struct item *kernel, uint64_t function)
{
    const struct CUfunc_st *found = kernel_at((struct launch_item *)kernel, function);
    return found ? found->ptx->param_bytes : 0;
}

struct item *launch_child(struct item *kernel, const struct exec_grid *grid, const void *params,
                          CUresult *result)
{
    const struct launch_item *parent = (struct launch_item *)kernel;
    struct CUfunc_st *function = kernel_at(parent, grid->function);
    char message[512];
    size_t bytes = function ? function->ptx->param_bytes : 0;
    void *extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, (void *)params, CU_LAUNCH_PARAM_BUFFER_SIZE,
                     &bytes, CU_LAUNCH_PARAM_END};
    struct launch_request request = {
        .handle = function, .dynamic_shared = grid->shared, .extra = extra};
    memcpy(request.grid, grid->grid, sizeof request.grid);
    memcpy(request.block, grid->block, sizeof request.block);
    *result = function ? launch_request_check(&request, function) : CUDA_ERROR_INVALID_VALUE;
    if (*result != CUDA_SUCCESS)
        return NULL;
    if (!exec_prepare(function->module->image, function->ptx, message, sizeof message)) {
        device_say("%s", message);
        *result = CUDA_ERROR_NOT_SUPPORTED;
        return NULL;
    }
    struct launch_item *child = make_item(&request, function, result);
    if (!child)
        return NULL;
    child->launch.touches = parent->launch.touches;
    child->launch.grid_id = ++device.trace.launches;
    return &child->item;
}

/* The events of launch attributes become what the stream holds behind the kernel. */
static CUresult capture(const struct launch_request *request, struct CUstream_st *stream,
                        struct launch_item *work)
{
    CUresult result = capture_work(stream, CU_GRAPH_NODE_TYPE_KERNEL, &work->item);
    for (unsigned i = 0; i < request->event_count && result == CUDA_SUCCESS; i++)
        result = capture_record(stream, object_find(request->events[i], OBJECT_EVENT), false);
    return result;
}

/* ---- Kernels that overlap -----------------------------------------------------------------------
 * CUDA C++ Programming Guide, "Programmatic Dependent Launch and Synchronization": the second of
 * two kernels begins in a queue of its own when the blocks of the first have let it, and the stream
 * goes on when it has ended. */

static bool has_launch_dependents(const struct ptx_function *kernel)
{
    for (uint32_t i = 0; i < kernel->instruction_count; i++)
        if (kernel->instructions[i].form == PTX_FORM_GRIDDEP_LAUNCH_DEPENDENTS)
            return true;
    return false;
}

/* The stream's next launch may come beside this one from `lets` on. Takes both marks. */
static void set_beside(struct CUstream_st *stream, struct mark *lets, struct mark *end)
{
    mark_release(stream->beside.lets);
    mark_release(stream->beside.end);
    stream->beside.lets = lets;
    stream->beside.end = end;
    stream->beside.sequence = stream->last;
}

static bool may_be_beside(const struct CUstream_st *stream)
{
    const struct CUstream_st *legacy = stream->context->legacy;
    return stream->beside.end && stream->beside.sequence == stream->last &&
           !stream->beside.end->done &&
           !(stream_is_blocking(stream) && (stream == legacy || legacy->head));
}

/* Where a mark is passed that is not the end of an item. */
static void lets_from(struct launch_item *work)
{
    if (!work->lets)
        return;
    work->lets->stream = work->item.stream->serial;
    work->lets->sequence = work->item.sequence;
    work->lets->queue = work->item.stream;
}

static void append_launch(struct CUstream_st *stream, struct launch_item *work)
{
    struct mark *end = NULL;
    if (has_launch_dependents(work->launch.kernel) && (end = mark_create()) != NULL)
        work->lets = mark_create();
    work->item.done = end;
    struct mark *lets = work->lets;
    queue_append(stream, &work->item);
    lets_from(work);
    set_beside(stream, lets ? mark_retain(lets) : NULL, lets ? mark_retain(end) : NULL);
    schedule_enqueued();
}

/* False: memory is short, and nothing was done. */
static bool append_beside(struct CUstream_st *stream, struct launch_item *work)
{
    struct mark *end = mark_create();
    struct item *begin = end ? queue_marker(NULL, mark_retain(stream->beside.lets)) : NULL;
    struct item *join = begin ? queue_marker(NULL, mark_retain(end)) : NULL;
    struct CUstream_st *branch = join ? stream_create_branch(stream->context) : NULL;
    if (!branch) {
        if (begin)
            queue_drop(begin);
        if (join)
            queue_drop(join);
        mark_release(end);
        return false;
    }
    if (has_launch_dependents(work->launch.kernel))
        work->lets = mark_create();
    work->previous = mark_retain(stream->beside.end);
    work->launch.previous_done = &work->previous->done;
    work->item.done = end;
    struct mark *lets = mark_retain(work->lets ? work->lets : end);
    mark_retain(end);
    queue_append(branch, begin);
    queue_append(branch, &work->item);
    lets_from(work);
    queue_append(stream, join);
    set_beside(stream, lets, end);
    stream_abandon(branch);
    schedule_enqueued();
    return true;
}

static CUresult enqueue(struct launch_request *request, struct CUctx_st *context)
{
    struct CUstream_st *stream = stream_resolve(context, request->stream, request->per_thread);
    if (!stream)
        return CUDA_ERROR_INVALID_HANDLE;
    CUresult result = capture_admits(stream);
    if (result != CUDA_SUCCESS)
        return result;
    for (unsigned i = 0; i < request->event_count; i++)
        if (!object_find(request->events[i], OBJECT_EVENT))
            return CUDA_ERROR_INVALID_HANDLE;
    struct launch_item *work = prepare(request, stream->context, &result);
    if (!work)
        return result;
    if (stream->capture)
        return capture(request, stream, work);
    work->id = work->launch.grid_id = ++device.trace.launches;
    if (!work->module->code->shell && (!work->native.run || work->native.traced))
        last_launch = work->id;
    stream->waiters++; /* it may be destroyed while an eager launch lets others in */
    if (!request->beside || !may_be_beside(stream) || !append_beside(stream, work))
        append_launch(stream, work);
    record_events(request, stream);
    stream->waiters--;
    stream_release_if_drained(stream);
    return CUDA_SUCCESS;
}

static CUresult launch(struct launch_request *request)
{
    struct CUctx_st *context;
    CUresult result = device_enter_context(&context);
    if (result != CUDA_SUCCESS)
        return result;
    return device_leave(enqueue(request, context));
}

/* ---- Nodes of graphs ---------------------------------------------------------------------------
 */

/* "func: kernel to launch; kern: will only be referenced if func is NULL". What a capture or an
 * attribute said of the launch (`before`) stays. */
CUresult launch_of_node(const CUDA_KERNEL_NODE_PARAMS_v2 *params, const struct item *before,
                        struct item **item)
{
    CUresult result;
    const struct launch_item *old = (const struct launch_item *)before;
    struct CUctx_st *context = context_current();
    struct launch_request request = {
        .handle = params->func ? params->func : (CUfunction)params->kern,
        .grid = {params->gridDimX, params->gridDimY, params->gridDimZ},
        .block = {params->blockDimX, params->blockDimY, params->blockDimZ},
        .dynamic_shared = params->sharedMemBytes,
        .params = params->kernelParams,
        .extra = params->extra,
        .cooperative = old && old->launch.cooperative,
    };
    if (!params->func && params->ctx)
        context = object_find(params->ctx, OBJECT_CONTEXT);
    if (!context)
        return CUDA_ERROR_INVALID_VALUE;
    if (old)
        memcpy(request.cluster, old->launch.cluster, sizeof request.cluster);
    struct launch_item *work = prepare(&request, context, &result);
    *item = work ? &work->item : NULL;
    return result;
}

void launch_describe(const struct item *item, CUDA_KERNEL_NODE_PARAMS_v2 *params)
{
    struct launch_item *work = (struct launch_item *)item;
    const struct ptx_function *ptx = work->launch.kernel;
    if (!work->addresses && ptx->param_count)
        work->addresses = calloc(ptx->param_count, sizeof *work->addresses);
    for (uint32_t i = 0; work->addresses && i < ptx->param_count; i++)
        work->addresses[i] = (char *)work->params + ptx->params[i].offset;
    bool is_kernel = object_find(work->function, OBJECT_KERNEL) != NULL;
    *params = (CUDA_KERNEL_NODE_PARAMS_v2){
        .func = is_kernel ? NULL : work->function,
        .kern = is_kernel ? (CUkernel)work->function : NULL,
        .ctx = is_kernel ? work->module->context : NULL,
        .gridDimX = work->launch.grid[0],
        .gridDimY = work->launch.grid[1],
        .gridDimZ = work->launch.grid[2],
        .blockDimX = work->launch.block[0],
        .blockDimY = work->launch.block[1],
        .blockDimZ = work->launch.block[2],
        .sharedMemBytes = (unsigned)work->launch.dynamic_shared,
        .kernelParams = work->addresses,
    };
}

/* ---- Entry points -------------------------------------------------------------------------- */

static CUresult launch_plain(CUfunction f, unsigned gx, unsigned gy, unsigned gz, unsigned bx,
                             unsigned by, unsigned bz, unsigned shared, CUstream stream,
                             void **params, void **extra, bool cooperative, bool per_thread)
{
    struct launch_request request = {
        .handle = f,
        .grid = {gx, gy, gz},
        .block = {bx, by, bz},
        .dynamic_shared = shared,
        .stream = stream,
        .per_thread = per_thread,
        .cooperative = cooperative,
        .params = params,
        .extra = extra,
    };
    return launch(&request);
}

CUresult launch_buffer(CUfunction function, const struct launch_shape *shape, CUstream stream,
                       void **extra)
{
    const unsigned *grid = shape->grid, *block = shape->block;
    return launch_plain(function, grid[0], grid[1], grid[2], block[0], block[1], block[2],
                        shape->shared_bytes, stream, NULL, extra, false, false);
}

CUresult CUDAAPI cuLaunchKernel(CUfunction f, unsigned int gridDimX, unsigned int gridDimY,
                                unsigned int gridDimZ, unsigned int blockDimX,
                                unsigned int blockDimY, unsigned int blockDimZ,
                                unsigned int sharedMemBytes, CUstream hStream, void **kernelParams,
                                void **extra)
{
    return launch_plain(f, gridDimX, gridDimY, gridDimZ, blockDimX, blockDimY, blockDimZ,
                        sharedMemBytes, hStream, kernelParams, extra, false, false);
}

CUresult CUDAAPI cuLaunchKernel_ptsz(CUfunction f, unsigned int gridDimX, unsigned int gridDimY,
                                     unsigned int gridDimZ, unsigned int blockDimX,
                                     unsigned int blockDimY, unsigned int blockDimZ,
                                     unsigned int sharedMemBytes, CUstream hStream,
                                     void **kernelParams, void **extra)
{
    return launch_plain(f, gridDimX, gridDimY, gridDimZ, blockDimX, blockDimY, blockDimZ,
                        sharedMemBytes, hStream, kernelParams, extra, false, true);
}

CUresult CUDAAPI cuLaunchCooperativeKernel(CUfunction f, unsigned int gridDimX,
                                           unsigned int gridDimY, unsigned int gridDimZ,
                                           unsigned int blockDimX, unsigned int blockDimY,
                                           unsigned int blockDimZ, unsigned int sharedMemBytes,
                                           CUstream hStream, void **kernelParams)
{
    return launch_plain(f, gridDimX, gridDimY, gridDimZ, blockDimX, blockDimY, blockDimZ,
                        sharedMemBytes, hStream, kernelParams, NULL, true, false);
}

CUresult CUDAAPI cuLaunchCooperativeKernel_ptsz(CUfunction f, unsigned int gridDimX,
                                                unsigned int gridDimY, unsigned int gridDimZ,
                                                unsigned int blockDimX, unsigned int blockDimY,
                                                unsigned int blockDimZ, unsigned int sharedMemBytes,
                                                CUstream hStream, void **kernelParams)
{
    return launch_plain(f, gridDimX, gridDimY, gridDimZ, blockDimX, blockDimY, blockDimZ,
                        sharedMemBytes, hStream, kernelParams, NULL, true, true);
}

static CUresult read_attribute(struct launch_request *request, const CUlaunchAttribute *attribute)
{
    switch (attribute->id) {
    case CU_LAUNCH_ATTRIBUTE_COOPERATIVE:
        request->cooperative = attribute->value.cooperative != 0;
        return CUDA_SUCCESS;
    case CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION:
        request->cluster[0] = attribute->value.clusterDim.x;
        request->cluster[1] = attribute->value.clusterDim.y;
        request->cluster[2] = attribute->value.clusterDim.z;
        return CUDA_SUCCESS;
    case CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION:
        request->beside = attribute->value.programmaticStreamSerializationAllowed != 0;
        return CUDA_SUCCESS;
    case CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_EVENT:
        request->events[request->event_count++] = attribute->value.programmaticEvent.event;
        return CUDA_SUCCESS;
    case CU_LAUNCH_ATTRIBUTE_LAUNCH_COMPLETION_EVENT:
        request->events[request->event_count++] = attribute->value.launchCompletionEvent.event;
        return CUDA_SUCCESS;
    case CU_LAUNCH_ATTRIBUTE_DEVICE_UPDATABLE_KERNEL_NODE:
        return attribute->value.deviceUpdatableKernelNode.deviceUpdatable ? CUDA_ERROR_NOT_SUPPORTED
                                                                          : CUDA_SUCCESS;
    default: /* hints about speed: priority, caches */
        return CUDA_SUCCESS;
    }
}

static CUresult launch_config(const CUlaunchConfig *config, CUfunction f, void **params,
                              void **extra, bool per_thread)
{
    if (!config || (config->numAttrs && !config->attrs))
        return CUDA_ERROR_INVALID_VALUE;
    struct launch_request request = {
        .handle = f,
        .grid = {config->gridDimX, config->gridDimY, config->gridDimZ},
        .block = {config->blockDimX, config->blockDimY, config->blockDimZ},
        .dynamic_shared = config->sharedMemBytes,
        .stream = config->hStream,
        .per_thread = per_thread,
        .params = params,
        .extra = extra,
    };
    for (unsigned i = 0; i < config->numAttrs; i++) {
        if (request.event_count == 2 &&
            (config->attrs[i].id == CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_EVENT ||
             config->attrs[i].id == CU_LAUNCH_ATTRIBUTE_LAUNCH_COMPLETION_EVENT))
            return CUDA_ERROR_INVALID_VALUE;
        CUresult result = read_attribute(&request, &config->attrs[i]);
        if (result != CUDA_SUCCESS)
            return result;
    }
    return launch(&request);
}

CUresult CUDAAPI cuLaunchKernelEx(const CUlaunchConfig *config, CUfunction f, void **kernelParams,
                                  void **extra)
{
    return launch_config(config, f, kernelParams, extra, false);
}

CUresult CUDAAPI cuLaunchKernelEx_ptsz(const CUlaunchConfig *config, CUfunction f,
                                       void **kernelParams, void **extra)
{
    return launch_config(config, f, kernelParams, extra, true);
}

/* ---- The tracing interface ------------------------------------------------------------------- */

__attribute__((visibility("default"))) void device_trace_subscribe(device_trace_done *done,
                                                                   void *user)
{
    device_lock();
    device.trace.done = done;
    device.trace.user = user;
    device_unlock();
}

__attribute__((visibility("default"))) uint64_t device_trace_last_launch(void)
{
    return last_launch;
}
