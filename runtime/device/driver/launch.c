/* Kernel launches: checks the arguments, copies the parameters, and runs the kernel in slices as an
 * item of its stream. The execution engine (exec.h) runs it. This file turns faults into the
 * documented errors, and passes what the kernel touched to the tracer (trace.h). */
#include "runtime/device/driver/worker_pool.h"
#include "csan/base/array.h"
#include "runtime/device/driver/graph_conditional.h"
#include "runtime/device/driver/launch_children.h"
#include "runtime/device/driver/native_launch.h"
#include "runtime/device/memory/heap.h"
#include "runtime/device/module/module.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    MAX_BLOCK_THREADS = 1024,
    MAX_BLOCK_Z = 64,
    MAX_GRID_YZ = 65535,
    MULTIPROCESSORS = 132,
    MAX_CLUSTER = 16,
};

/* What all the ways to launch have in common. */
struct request {
    CUfunction handle;
    uint32_t grid[3], block[3], cluster[3];
    uint64_t dynamic_shared;
    CUstream stream;
    bool per_thread, cooperative;
    bool beside; /* it may begin before the kernel before it in its stream has ended */
    void **params, **extra;
    CUevent events[2]; /* recorded by the launch */
    unsigned event_count;
};

struct launch_item {
    struct item item;
    struct CUmod_st *module;
    CUfunction function; /* as the program named it */
    void **addresses;    /* a node's: of each parameter, for those who ask; or NULL */
    struct exec_launch launch;
    exec_state *state; /* once begun */
    struct native_kernel native;
    uint64_t id;           /* as observers know it; 0: a node of a graph */
    bool reported;         /* the observer has its end */
    struct mark *lets;     /* passed when the next one may begin; or NULL */
    struct mark *previous; /* of one that began early: the end of the kernel before; or NULL */
    uint64_t workspace;
    struct launch_kin kin;
    bool executed;     /* it waits for what it launched */
    uint64_t params[]; /* kernel->param_bytes of them */
};

static _Thread_local uint64_t last_launch;

/* ---- Running ------------------------------------------------------------------------------- */

bool launch_find_region(void *user, uint64_t address, struct exec_region *region)
{
    const struct item *kernel = user;
    struct arena_info info;
    if (kernel && heap_find(kernel->stream->context, address, region))
        return true;
    struct arena *arenas[] = {&device.device_memory, &device.host_memory};
    for (int i = 0; i < 2; i++) {
        if (!arena_owns(arenas[i], address))
            continue;
        bool writable = true;
        if (!arena_find(arenas[i], address, &info) || !memory_mapped(address, &info, &writable))
            return false;
        *region = (struct exec_region){info.base, info.base + info.bytes, (int64_t)arenas[i]->delta,
                                       writable};
        return true;
    }
    struct memory memory = memory_at(address);
    if (memory.kind != MEMORY_REGISTERED)
        return false;
    *region = (struct exec_region){memory.base, memory.base + memory.bytes, 0,
                                   !(memory.flags & CU_MEMHOSTREGISTER_READ_ONLY)};
    return true;
}

static CUresult fault_code(enum exec_fault_kind kind)
{
    switch (kind) {
    case EXEC_FAULT_ILLEGAL_ADDRESS:
    case EXEC_FAULT_OUT_OF_RANGE:
    case EXEC_FAULT_STACK: /* as seen on an H200 with driver 580 */
        return CUDA_ERROR_ILLEGAL_ADDRESS;
    case EXEC_FAULT_MISALIGNED_ADDRESS:
        return CUDA_ERROR_MISALIGNED_ADDRESS;
    case EXEC_FAULT_ADDRESS_SPACE:
        return CUDA_ERROR_INVALID_ADDRESS_SPACE;
    case EXEC_FAULT_INVALID_PC:
        return CUDA_ERROR_INVALID_PC;
    case EXEC_FAULT_ILLEGAL_INSTRUCTION:
        return CUDA_ERROR_ILLEGAL_INSTRUCTION;
    case EXEC_FAULT_ASSERT:
        return CUDA_ERROR_ASSERT;
    case EXEC_FAULT_MEMORY:
        return CUDA_ERROR_OUT_OF_MEMORY;
    default:
        return CUDA_ERROR_LAUNCH_FAILED;
    }
}

/* Reports to the observer, without the lock; the item is running, so no other thread touches it. */
static void report_ranges(struct launch_item *work, struct device_trace_launch *launch)
{
    device_trace_done *done = device.trace.done;
    void *user = device.trace.user;
    launch->id = work->id;
    work->reported = true;
    if (!done || !work->launch.touches)
        return;
    device_unlock();
    done(user, launch);
    device_lock();
}

static void report(struct launch_item *work, bool failed)
{
    struct device_trace_launch launch = {.failed = failed};
    if (work->kin.parent)
        return; /* its parent's record has it */
    if (work->state && work->launch.touches && device.trace.done) {
        children_report(work->kin.own, work->state, &launch);
        launch.ranges = exec_touches(work->state, &launch.count);
    }
    report_ranges(work, &launch);
}

/* What is known of a launch, whatever happened to it. */
static struct device_failure failure_of(const struct launch_item *work, const char *message)
{
    const struct exec_launch *launch = &work->launch;
    struct device_failure failure = {
        .code = (int)work->item.context_error,
        .launch = work->id,
        .device = work->module->context->ordinal,
        .kernel = launch->kernel->name,
        .message = message,
    };
    memcpy(failure.grid, launch->grid, sizeof failure.grid);
    memcpy(failure.block_size, launch->block, sizeof failure.block_size);
    return failure;
}

static enum step fault(struct launch_item *work)
{
    const struct exec_fault *why = exec_fault(work->state);
    work->item.context_error = fault_code(why->kind);
    struct device_failure failure = failure_of(work, why->message);
    failure.what = exec_fault_name(why->kind);
    failure.has_thread = why->has_thread;
    memcpy(failure.block, why->block, sizeof failure.block);
    memcpy(failure.thread, why->thread, sizeof failure.thread);
    failure.threads = why->threads;
    failure.has_address = why->has_address;
    failure.address = why->has_address ? why->address : 0;
    failure.access = why->access;
    failure.bytes = why->bytes;
    failure.function = why->function == work->launch.kernel ? NULL : why->function->name;
    failure.file = why->file;
    failure.line = why->line;
    if (why->kind == EXEC_FAULT_ASSERT) {
        failure.assertion = why->assertion.expression;
        if (!failure.file && why->assertion.file[0]) {
            failure.file = why->assertion.file;
            failure.line = why->assertion.line;
        }
    }
    failure_report(&failure, why->kind == EXEC_FAULT_ASSERT); /* its message is printed already */
    report(work, true);
    return STEP_FAULT;
}

static enum step begin(struct launch_item *work)
{
    char message[512];
    work->launch.memory.window = device.window;
    work->launch.memory.find = launch_find_region;
    work->launch.memory.find_texture = texture_find;
    work->launch.memory.find_surface = surface_find;
    work->launch.memory.allocate = heap_allocate;
    work->launch.memory.release = heap_release;
    work->launch.memory.set_condition = conditional_set;
    work->launch.memory.runtime = &children_runtime;
    work->launch.memory.user = &work->item;
    work->launch.parts = schedule_is_free() ? worker_pool_size() : 1;
    work->launch.together = worker_pool_run;
    work->state = exec_begin(&work->launch, message, sizeof message);
    if (work->state)
        return STEP_AGAIN;
    work->item.context_error = CUDA_ERROR_LAUNCH_FAILED;
    struct device_failure failure = failure_of(work, message);
    failure.what = "cannot be run";
    failure_report(&failure, false);
    report(work, true);
    return STEP_FAULT;
}

/* ---- Native kernels: see native.h ---- */

static enum step native_fault(struct launch_item *work, const struct device_native *native)
{
    static const char *const words[] = {"reads", "writes"};
    char message[256];
    work->item.context_error = CUDA_ERROR_ILLEGAL_ADDRESS;
    snprintf(message, sizeof message,
             "%s %s %llu bytes at 0x%llx, which are not all memory that a kernel may touch",
             work->launch.kernel->name, words[native->access], (unsigned long long)native->bytes,
             (unsigned long long)native->address);
    struct device_failure failure = failure_of(work, message);
    failure.what = exec_fault_name(EXEC_FAULT_ILLEGAL_ADDRESS);
    failure.has_address = true;
    failure.address = native->address;
    failure.bytes = native->bytes <= UINT32_MAX ? (uint32_t)native->bytes : 0;
    failure.access =
        native->access == DEVICE_NATIVE_WRITE ? DEVICE_FAILURE_WRITE : DEVICE_FAILURE_READ;
    failure_report(&failure, false);
    return STEP_FAULT;
}

static enum step native_step(struct launch_item *work)
{
    struct device_native native = {.touch = work->launch.touches ? touch_create() : NULL};
    struct device_trace_launch launch = {0};
    work->native.run(&native, work->params);
    enum step step = native.failed ? native_fault(work, &native) : STEP_DONE;
    if (work->launch.touches) {
        launch.failed = native.failed;
        launch.lost = !native.touch || touch_failed(native.touch);
        struct device_trace_range *ranges =
            launch.lost ? NULL : touch_ranges(native.touch, &launch.count);
        launch.ranges = ranges;
        report_ranges(work, &launch);
        free(ranges);
    }
    touch_destroy(native.touch);
    return step;
}

/* All threads have ended; the kernel has when its children have. */
static enum step finish(struct launch_item *work)
{
    if (!children_are_done(work->kin.own))
        return STEP_SPINNING;
    report(work, false);
    return STEP_DONE;
}

static enum step launch_step(struct item *item)
{
    struct launch_item *work = (struct launch_item *)item;
    if (work->native.run)
        return native_step(work);
    if (!work->state && begin(work) == STEP_FAULT)
        return STEP_FAULT;
    if (work->executed)
        return finish(work);
    enum exec_status status = exec_step(work->state, schedule_budget());
    if (work->lets && !work->lets->done && exec_lets(work->state))
        mark_pass(work->lets, CUDA_SUCCESS);
    switch (status) {
    case EXEC_RUNNING:
        return STEP_AGAIN;
    case EXEC_SPINNING:
        return STEP_SPINNING;
    case EXEC_DONE:
        work->executed = true;
        return finish(work);
    default:
        return fault(work);
    }
}

static void note_dropped(uint64_t id)
{
    struct trace_state *trace = &device.trace;
    if (!array_room(&trace->dropped, trace->dropped_count, &trace->dropped_capacity, 16, SIZE_MAX,
                    sizeof *trace->dropped))
        return;
    trace->dropped[trace->dropped_count++] = id;
}

void launch_report_dropped(void)
{
    while (device.trace.dropped_count) {
        struct device_trace_launch launch = {
            .id = device.trace.dropped[--device.trace.dropped_count], .failed = 1};
        device_trace_done *done = device.trace.done;
        void *user = device.trace.user;
        if (!done)
            continue;
        device_unlock();
        done(user, &launch);
        device_lock();
    }
}

static void launch_discard(struct item *item)
{
    struct launch_item *work = (struct launch_item *)item;
    if (work->id && work->launch.touches && !work->reported)
        note_dropped(work->id);
    if (work->kin.parent)
        child_is_done(work->kin.parent, work->kin.number, work->state);
    family_release(work->kin.parent);
    children_forget(work->kin.own);
    exec_end(work->state);
    if (work->workspace && !device.fixed_memory)
        arena_free_now(&device.device_memory, work->workspace);
    module_release(work->module);
    if (work->lets && !work->lets->done)
        mark_pass(work->lets, CUDA_SUCCESS);
    mark_release(work->lets);
    mark_release(work->previous);
    free(work->addresses);
    free(work);
}

/* ---- Checking ------------------------------------------------------------------------------ */

static CUresult check_block(const struct request *request, const struct ptx_function *ptx)
{
    const uint32_t *block = request->block, *required = ptx->reqntid;
    uint64_t threads = (uint64_t)block[0] * block[1] * block[2];
    if (!threads || block[0] > MAX_BLOCK_THREADS || block[1] > MAX_BLOCK_THREADS ||
        block[2] > MAX_BLOCK_Z || threads > MAX_BLOCK_THREADS)
        return CUDA_ERROR_INVALID_VALUE;
    for (int i = 0; required[0] && i < 3; i++)
        if (block[i] != (required[i] ? required[i] : 1))
            return CUDA_ERROR_INVALID_VALUE;
    /* PTX .maxntid: "exceeding the maximum number of threads results in a runtime error or kernel
     * launch failure". The driver takes it for a wrong argument, not for a lack of registers. */
    return threads <= function_max_threads(ptx) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

static CUresult check_grid(const struct request *request)
{
    const uint32_t *grid = request->grid, *cluster = request->cluster;
    uint64_t size = 1;
    if (!grid[0] || !grid[1] || !grid[2] || grid[0] > INT32_MAX || grid[1] > MAX_GRID_YZ ||
        grid[2] > MAX_GRID_YZ)
        return CUDA_ERROR_INVALID_VALUE;
    for (int i = 0; cluster[0] && i < 3; i++) {
        if (!cluster[i] || grid[i] % cluster[i])
            return CUDA_ERROR_INVALID_CLUSTER_SIZE;
        size *= cluster[i];
    }
    return size <= MAX_CLUSTER ? CUDA_SUCCESS : CUDA_ERROR_INVALID_CLUSTER_SIZE;
}

static CUresult check_cooperative(const struct request *request, const struct ptx_function *ptx)
{
    uint64_t blocks = (uint64_t)request->grid[0] * request->grid[1] * request->grid[2];
    uint32_t threads = request->block[0] * request->block[1] * request->block[2];
    uint64_t most =
        (uint64_t)function_occupancy(ptx, (int)threads, request->dynamic_shared) * MULTIPROCESSORS;
    return blocks <= most ? CUDA_SUCCESS : CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE;
}

/* A cluster shape fixed in the code (PTX .reqnctapercluster), or by attribute, when the launch
 * names none. */
static void choose_cluster(struct request *request, const struct CUfunc_st *function)
{
    const uint32_t *fixed = function->ptx->required_cluster;
    if (!fixed[0])
        fixed = function->settings->cluster;
    if (request->cluster[0] || !fixed[0])
        return;
    for (int i = 0; i < 3; i++)
        request->cluster[i] = fixed[i] ? fixed[i] : 1;
}

static CUresult check(struct request *request, const struct CUfunc_st *function)
{
    choose_cluster(request, function);
    CUresult result = check_block(request, function->ptx);
    if (result == CUDA_SUCCESS)
        result = check_grid(request);
    if (result == CUDA_SUCCESS &&
        request->dynamic_shared > (uint64_t)function->settings->dynamic_shared_limit)
        result = CUDA_ERROR_INVALID_VALUE;
    if (result == CUDA_SUCCESS && request->cooperative)
        result = check_cooperative(request, function->ptx);
    return result;
}

/* ---- Parameters ---------------------------------------------------------------------------- */

/* "extra": {CU_LAUNCH_PARAM_BUFFER_POINTER, buffer, CU_LAUNCH_PARAM_BUFFER_SIZE, &bytes, END} */
static CUresult copy_extra(const struct ptx_function *ptx, void **extra, void *target)
{
    const void *buffer = NULL;
    size_t bytes = 0;
    for (; *extra != CU_LAUNCH_PARAM_END; extra += 2) {
        if (*extra == CU_LAUNCH_PARAM_BUFFER_POINTER)
            buffer = extra[1];
        else if (*extra == CU_LAUNCH_PARAM_BUFFER_SIZE && extra[1])
            bytes = *(size_t *)extra[1];
        else
            return CUDA_ERROR_INVALID_VALUE;
    }
    if (ptx->param_bytes && (!buffer || bytes < ptx->param_bytes))
        return CUDA_ERROR_INVALID_VALUE;
    if (ptx->param_bytes)
        memcpy(target, buffer, ptx->param_bytes);
    return CUDA_SUCCESS;
}

static CUresult copy_params(const struct ptx_function *ptx, const struct request *request,
                            void *target)
{
    if (request->params && request->extra)
        return CUDA_ERROR_INVALID_VALUE;
    if (request->extra)
        return copy_extra(ptx, request->extra, target);
    for (uint32_t i = 0; i < ptx->param_count; i++) {
        const struct ptx_param *param = &ptx->params[i];
        if (!request->params || !request->params[i])
            return CUDA_ERROR_INVALID_VALUE;
        memcpy((char *)target + param->offset, request->params[i], param->size);
    }
    return CUDA_SUCCESS;
}

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

static struct launch_item *make_item(const struct request *request,
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
    *result = copy_params(ptx, request, work->params);
    if (*result == CUDA_SUCCESS && request->cooperative)
        *result = give_workspace(work, function->module->context);
    if (*result == CUDA_SUCCESS)
        return work;
    launch_discard(&work->item);
    return NULL;
}

/* Events named by launch attributes. They promise less than the kernel's end; recording them there
 * is the latest, and so the safest, moment allowed. */
static void record_events(const struct request *request, struct CUstream_st *stream)
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
static struct launch_item *prepare(struct request *request, struct CUctx_st *context,
                                   CUresult *result)
{
    struct CUfunc_st *function;
    char message[512];
    *result = function_resolve(request->handle, context, &function);
    if (*result != CUDA_SUCCESS)
        return NULL;
    bool is_here = function->module->context == context_home(context);
    *result = is_here ? check(request, function) : CUDA_ERROR_INVALID_CONTEXT;
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
    struct request request = {.handle = function, .dynamic_shared = grid->shared, .extra = extra};
    memcpy(request.grid, grid->grid, sizeof request.grid);
    memcpy(request.block, grid->block, sizeof request.block);
    *result = function ? check(&request, function) : CUDA_ERROR_INVALID_VALUE;
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
static CUresult capture(const struct request *request, struct CUstream_st *stream,
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

static CUresult enqueue(struct request *request, struct CUctx_st *context)
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

static CUresult launch(struct request *request)
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
    struct request request = {
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
    struct request request = {
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

static CUresult read_attribute(struct request *request, const CUlaunchAttribute *attribute)
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
    struct request request = {
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
