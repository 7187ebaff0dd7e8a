/* Nodes of graphs: what they touch. See graph_node_accesses.h. */
#include "runtime/hook/graph/graph_node_accesses.h"
#include "runtime/hook/graph/graph_copy_batch.h"
#include "csan/detector/context.h"
#include "runtime/hook/state/callsite.h"
#include "runtime/hook/failure/failure.h"
#include "runtime/hook/state/graph_memory.h"
#include "runtime/hook/session/guard.h"
#include "runtime/hook/state/handle_table.h"
#include "runtime/hook/kernel/kernel.h"
#include "runtime/hook/failure/wrong_pointer.h"
#include "runtime/hook/state/stream.h"
#include "runtime/hook/graph/graph_calls.h"
#include "runtime/hook/observe/learning.h"
#include "runtime/hook/observe/learning_node.h"
#include "runtime/hook/observe/trace.h"
#include "runtime/hook/session/counters.h"
#include "runtime/hook/state/stream_memop.h"
#include "runtime/hook/state/transfer.h"

#include <stdlib.h>
#include <string.h>

struct note {
    CUgraphNode node;
    struct graph_node_work *work;
    UT_hash_handle hh;
};

static struct {
    struct note *notes; /* under the hooks' lock */
    void *attribute, *kernel_params, *copy_params, *set_params, *alloc_params, *free_params;
    void *memop_params, *signal_params, *wait_params;
} table;

/* ---- Work ---------------------------------------------------------------------------------- */

static struct graph_node_work *work_create(enum graph_node_kind kind, csan_site site, size_t room)
{
    struct graph_node_work *work = calloc(1, sizeof *work + room);
    if (!work)
        return NULL;
    work->references = 1;
    work->kind = (uint8_t)kind;
    work->site = site;
    work->level = CSAN_LEVEL_LIBRARY;
    return work;
}

struct graph_node_work *graph_node_work_op(csan_site site, enum csan_level level,
                                           const struct csan_access *accesses, size_t count)
{
    size_t dims = 0;
    if (context_ignores())
        count = 0;
    for (size_t i = 0; i < count; i++)
        dims += accesses[i].dim_count;
    struct graph_node_work *work =
        work_create(GRAPH_NODE_OP, site, count * sizeof *accesses + dims * sizeof(struct csan_dim));
    if (!work)
        return NULL;
    struct csan_dim *room = (struct csan_dim *)&work->accesses[count];
    work->level = level;
    work->count = count;
    for (size_t i = 0; i < count; i++) {
        work->accesses[i] = accesses[i];
        work->accesses[i].dims = room;
        for (uint8_t k = 0; k < accesses[i].dim_count; k++)
            *room++ = accesses[i].dims[k];
    }
    return work;
}

struct graph_node_work *graph_node_work_memory(enum graph_node_kind kind, csan_site site,
                                               uint64_t base, uint64_t bytes)
{
    struct graph_node_work *work = work_create(kind, site, 0);
    if (!work)
        return NULL;
    work->base = base;
    work->bytes = bytes;
    return work;
}

struct graph_node_work *graph_node_work_host(csan_site site, struct host_node *host)
{
    struct graph_node_work *work = work_create(GRAPH_NODE_HOST, site, 0);
    if (work)
        work->host = host;
    return work;
}

struct graph_node_work *graph_node_work_memops(csan_site site, const struct memop *memops,
                                               size_t count)
{
    struct csan_access *accesses = calloc(count + 1, sizeof *accesses);
    struct memop *copy = calloc(count + 1, sizeof *copy);
    size_t touched = 0;
    for (size_t i = 0; accesses && copy && i < count; i++) {
        copy[i] = memops[i];
        if (!memops[i].is_semaphore)
            accesses[touched++] = memop_access(&memops[i]);
    }
    struct graph_node_work *work =
        accesses && copy ? graph_node_work_op(site, CSAN_LEVEL_LIBRARY, accesses, touched) : NULL;
    free(accesses);
    if (!work) {
        free(copy);
        return NULL;
    }
    work->kind = GRAPH_NODE_MEMOPS;
    work->memops = copy;
    work->memop_count = count;
    return work;
}

struct graph_node_work *graph_node_work_retain(struct graph_node_work *work)
{
    if (work)
        __atomic_fetch_add(&work->references, 1, __ATOMIC_RELAXED);
    return work;
}

void graph_node_work_release(struct graph_node_work *work)
{
    if (work && __atomic_sub_fetch(&work->references, 1, __ATOMIC_ACQ_REL) == 0) {
        if (work->kind == GRAPH_NODE_BIRTH)
            graph_memory_forget(work, work->base);
        learning_node_release(work->learning);
        free(work->wrong);
        graph_calls_release(work->calls);
        free(work->memops);
        graph_node_work_release(work->otherwise);
        free(work);
    }
}

static bool access_equal(const struct csan_access *a, const struct csan_access *b)
{
    return a->base == b->base && a->bytes == b->bytes && a->dim_count == b->dim_count &&
           a->kind == b->kind && a->bound == b->bound && a->element_bytes == b->element_bytes &&
           a->argument == b->argument && a->order == b->order &&
           memcmp(a->dims, b->dims, a->dim_count * sizeof *a->dims) == 0;
}

bool graph_node_work_touches_equal(const struct graph_node_work *a, const struct graph_node_work *b)
{
    bool equal = a->count == b->count;
    for (size_t i = 0; equal && i < a->count; i++)
        equal = access_equal(&a->accesses[i], &b->accesses[i]);
    return equal;
}

static bool memops_equal(const struct graph_node_work *a, const struct graph_node_work *b)
{
    bool equal = a->memop_count == b->memop_count;
    for (size_t i = 0; equal && i < a->memop_count; i++) {
        const struct memop *left = &a->memops[i], *right = &b->memops[i];
        equal = left->is_wait == right->is_wait && left->is_semaphore == right->is_semaphore &&
                left->bytes == right->bytes && left->flags == right->flags &&
                left->address == right->address && left->value == right->value;
    }
    return equal;
}

bool graph_node_work_equal(const struct graph_node_work *a, const struct graph_node_work *b)
{
    if (a == b)
        return true;
    return a && b && a->kind == b->kind && a->site == b->site && a->level == b->level &&
           a->base == b->base && a->bytes == b->bytes && a->host == b->host &&
           a->calls == b->calls && learning_node_equal(a->learning, b->learning) &&
           graph_node_work_touches_equal(a, b) && memops_equal(a, b);
}

struct graph_node_work *graph_node_work_maybe(struct graph_node_work *work)
{
    if (!work || work->kind != GRAPH_NODE_OP)
        return work;
    struct graph_node_work *maybe =
        graph_node_work_op(work->site, work->level, work->accesses, work->count);
    for (size_t i = 0; maybe && i < maybe->count; i++)
        if (maybe->accesses[i].bound == CSAN_EXACT)
            maybe->accesses[i].bound = CSAN_BOUND_GUARD;
    if (maybe)
        maybe->calls = graph_calls_retain(work->calls);
    graph_node_work_release(work);
    return maybe;
}

/* ---- The table ----------------------------------------------------------------------------- */

static struct note *note_find(CUgraphNode node)
{
    struct note *note = NULL;
    HASH_FIND_PTR(table.notes, &node, note);
    return note;
}

static void note_remove(struct note *note)
{
    HASH_DEL(table.notes, note);
    graph_node_work_release(note->work);
    free(note);
}

void graph_node_note(CUgraphNode node, struct graph_node_work *work)
{
    guard_lock();
    struct note *note = note_find(node);
    if (note)
        note_remove(note);
    note = work ? calloc(1, sizeof *note) : NULL;
    if (note) {
        if (work->kind == GRAPH_NODE_BIRTH)
            graph_memory_note(work, work->base, work->bytes);
        note->node = node;
        note->work = work;
        HASH_ADD_PTR(table.notes, node, note);
        work = NULL;
    }
    guard_unlock();
    graph_node_work_release(work);
}

void graph_node_forget(CUgraphNode node)
{
    graph_node_note(node, NULL);
}

void graph_node_learning(CUgraphNode node, struct learning_node *learning)
{
    guard_lock();
    struct note *note = node ? note_find(node) : NULL;
    if (note && !note->work->learning) {
        note->work->learning = learning;
        learning = NULL;
    }
    guard_unlock();
    learning_node_release(learning);
}

void graph_node_wrong(CUgraphNode node, struct wrong_pointers *wrong)
{
    guard_lock();
    struct note *note = node ? note_find(node) : NULL;
    if (note && !note->work->wrong) {
        note->work->wrong = wrong;
        wrong = NULL;
    }
    guard_unlock();
    free(wrong);
}

void graph_node_calls(CUgraphNode node, struct graph_calls *calls)
{
    guard_lock();
    struct note *note = node ? note_find(node) : NULL;
    if (note && !note->work->calls) {
        note->work->calls = calls;
        calls = NULL;
    }
    guard_unlock();
    graph_calls_release(calls);
}

struct graph_node_work *graph_node_find(CUgraphNode node)
{
    guard_lock();
    struct note *note = note_find(node);
    struct graph_node_work *work = note ? graph_node_work_retain(note->work) : NULL;
    guard_unlock();
    return work;
}

/* ---- What parameters say --------------------------------------------------------------------- */

static CUfunction function_of(const CUDA_KERNEL_NODE_PARAMS_v3 *params)
{
    return params->func ? params->func : (CUfunction)params->kern;
}

static struct graph_node_work *of_kernel(const CUDA_KERNEL_NODE_PARAMS_v3 *params,
                                         const struct callsite_stack *stack)
{
    struct launch_accesses_touched touched;
    struct launch_accesses_launch launch = {
        .grid = {params->gridDimX, params->gridDimY, params->gridDimZ},
        .block = {params->blockDimX, params->blockDimY, params->blockDimZ},
        .shared = params->sharedMemBytes,
        .parameters = params->kernelParams,
        .extra = params->extra};
    const CUfunction handle = function_of(params);
    struct kernel *kernel = kernel_of(handle);
    if (!kernel)
        return NULL;
    struct learning learning;
    trace_start();
    failure_start();
    bool learns = trace_learns();
    if (learns)
        learning_begin(&learning, kernel, handle, &launch, true);
    launch_accesses_begin(kernel, &launch, &touched);
    if (learns)
        learning_apply(&learning, kernel, &touched);
    csan_site site =
        callsite_intern(stack, kernel->name, kernel->arguments, kernel->argument_count);
    struct graph_node_work *work =
        graph_node_work_op(site, touched.level, touched.accesses, touched.access_count);
    if (learns && work)
        work->learning = learning_node_create(&learning, kernel, handle, &launch, &touched);
    if (work)
        work->wrong = wrong_pointers_of_node(
            &touched, params->ctx ? params->ctx : stream_current_context(), site);
    launch_accesses_end(kernel, &touched);
    if (learns) {
        learning_count(&learning, false);
        learning_end(&learning);
    }
    return work;
}

static struct graph_node_work *of_copy(const CUDA_MEMCPY3D_v2 *what,
                                       const struct callsite_stack *stack)
{
    struct transfer_side source = {0}, target = {0};
    struct csan_access accesses[2];
    transfer_3d(&source, &target, what);
    if (source.is_array || target.is_array)
        counters_unmodelled("copies with CUDA arrays that csan did not see created");
    const csan_site site = callsite_intern(stack, "cuGraphAddMemcpyNode", transfer_arguments, 2);
    const bool nothing = source.row_bytes == 0 || target.row_bytes == 0;
    return graph_node_work_op(site, CSAN_LEVEL_LIBRARY, accesses,
                              nothing ? 0 : transfer_accesses(&source, &target, accesses));
}

static struct graph_node_work *of_set(const CUDA_MEMSET_NODE_PARAMS_v2 *what,
                                      const struct callsite_stack *stack)
{
    const struct transfer_set set = {.base = what->dst,
                                     .width = what->width * what->elementSize,
                                     .height = what->height,
                                     .pitch = what->pitch};
    struct csan_dim dim;
    const struct csan_access access = transfer_set_access(&set, &dim);
    const csan_site site =
        callsite_intern(stack, "cuGraphAddMemsetNode", transfer_set_arguments, 1);
    return graph_node_work_op(site, CSAN_LEVEL_LIBRARY, &access, set.width && set.height);
}

static struct graph_node_work *of_memops(const CUgraphNodeParams *params,
                                         const struct callsite_stack *stack)
{
    static const char *const arguments[] = {"addr"};
    const bool batch = params->type == CU_GRAPH_NODE_TYPE_BATCH_MEM_OP;
    const bool signals = params->type == CU_GRAPH_NODE_TYPE_EXT_SEMAS_SIGNAL;
    const CUDA_EXT_SEM_SIGNAL_NODE_PARAMS_v2 *signal = &params->extSemSignal;
    const CUDA_EXT_SEM_WAIT_NODE_PARAMS_v2 *wait = &params->extSemWait;
    size_t count = batch ? params->memOp.count : signals ? signal->numExtSems : wait->numExtSems;
    struct memop *memops = calloc(count + 1, sizeof *memops);
    if (!memops)
        return NULL;
    if (batch)
        count = memop_read_batch(params->memOp.paramArray, (unsigned)count, memops);
    else if (signals)
        memop_read_signals(signal->extSemArray, signal->paramsArray, (unsigned)count, memops);
    else
        memop_read_waits(wait->extSemArray, wait->paramsArray, (unsigned)count, memops);
    const char *name = batch     ? "cuGraphAddBatchMemOpNode"
                       : signals ? "cuGraphAddExternalSemaphoresSignalNode"
                                 : "cuGraphAddExternalSemaphoresWaitNode";
    const csan_site site = callsite_intern(stack, name, batch ? arguments : NULL, batch ? 1 : 0);
    struct graph_node_work *work = graph_node_work_memops(site, memops, count);
    free(memops);
    return work;
}

struct graph_node_work *graph_node_of_params(const CUgraphNodeParams *params,
                                             const struct callsite_stack *stack)
{
    csan_site site;
    switch (params->type) {
    case CU_GRAPH_NODE_TYPE_KERNEL:
        return of_kernel(&params->kernel, stack);
    case CU_GRAPH_NODE_TYPE_MEMCPY:
        return of_copy(&params->memcpy.copyParams, stack);
    case CU_GRAPH_NODE_TYPE_MEMSET:
        return of_set(&params->memset, stack);
    case CU_GRAPH_NODE_TYPE_MEM_ALLOC:
        site = callsite_intern(stack, "cuGraphAddMemAllocNode", NULL, 0);
        return graph_node_work_memory(GRAPH_NODE_BIRTH, site, params->alloc.dptr,
                                      params->alloc.bytesize);
    case CU_GRAPH_NODE_TYPE_MEM_FREE:
        site = callsite_intern(stack, "cuGraphAddMemFreeNode", NULL, 0);
        return graph_node_work_memory(GRAPH_NODE_DEATH, site, params->free.dptr, 0);
    case CU_GRAPH_NODE_TYPE_BATCH_MEM_OP:
    case CU_GRAPH_NODE_TYPE_EXT_SEMAS_SIGNAL:
    case CU_GRAPH_NODE_TYPE_EXT_SEMAS_WAIT:
        return of_memops(params, stack);
    default:
        return graph_node_of_copy_batch(params, stack);
    }
}

static void *function(void **slot, const char *symbol)
{
    return driver_function_cached(slot, symbol);
}

bool graph_node_is_of_groups(CUgraphNode node)
{
    CUkernelNodeAttrValue value = {0};
    PFN_cuGraphKernelNodeGetAttribute_v11000 ask =
        (PFN_cuGraphKernelNodeGetAttribute_v11000)function(&table.attribute,
                                                           "cuGraphKernelNodeGetAttribute");
    if (!ask)
        return false;
    if (ask(node, CU_LAUNCH_ATTRIBUTE_COOPERATIVE, &value) == CUDA_SUCCESS && value.cooperative)
        return true;
    value = (CUkernelNodeAttrValue){0};
    return ask(node, CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION, &value) == CUDA_SUCCESS &&
           value.clusterDim.x > 0;
}

static CUresult ask_kernel(CUgraphNode node, CUgraphNodeParams *params)
{
    PFN_cuGraphKernelNodeGetParams_v12000 ask = (PFN_cuGraphKernelNodeGetParams_v12000)function(
        &table.kernel_params, "cuGraphKernelNodeGetParams_v2");
    return ask ? ask(node, (CUDA_KERNEL_NODE_PARAMS_v2 *)&params->kernel) : CUDA_ERROR_NOT_FOUND;
}

struct trace_code graph_node_code(const CUgraphNodeParams *params)
{
    if (params->type != CU_GRAPH_NODE_TYPE_KERNEL)
        return (struct trace_code){NULL};
    return (struct trace_code){.function = function_of(&params->kernel),
                               .context = params->kernel.func ? NULL : params->kernel.ctx};
}

struct trace_code graph_node_ask_code(CUgraphNode node)
{
    CUgraphNodeParams params = {.type = CU_GRAPH_NODE_TYPE_KERNEL};
    return ask_kernel(node, &params) == CUDA_SUCCESS ? graph_node_code(&params)
                                                     : (struct trace_code){NULL};
}

struct graph_node_work *graph_node_ask(CUgraphNode node, CUgraphNodeType type,
                                       const struct callsite_stack *stack)
{
    CUgraphNodeParams params = {.type = type};
    CUDA_MEMSET_NODE_PARAMS_v1 set;
    CUDA_MEM_ALLOC_NODE_PARAMS_v1 alloc;
    CUDA_BATCH_MEM_OP_NODE_PARAMS_v1 memop;
    CUDA_EXT_SEM_SIGNAL_NODE_PARAMS_v1 signal;
    CUDA_EXT_SEM_WAIT_NODE_PARAMS_v1 wait;
    CUresult result = CUDA_ERROR_NOT_FOUND;
    void *ask;
    switch (type) {
    case CU_GRAPH_NODE_TYPE_KERNEL:
        result = ask_kernel(node, &params);
        break;
    case CU_GRAPH_NODE_TYPE_MEMCPY:
        if ((ask = function(&table.copy_params, "cuGraphMemcpyNodeGetParams")) != NULL)
            result = ((PFN_cuGraphMemcpyNodeGetParams_v10000)ask)(node, &params.memcpy.copyParams);
        break;
    case CU_GRAPH_NODE_TYPE_MEMSET:
        if ((ask = function(&table.set_params, "cuGraphMemsetNodeGetParams")) != NULL &&
            (result = ((PFN_cuGraphMemsetNodeGetParams_v10000)ask)(node, &set)) == CUDA_SUCCESS)
            memcpy(&params.memset, &set, sizeof set);
        break;
    case CU_GRAPH_NODE_TYPE_MEM_ALLOC:
        if ((ask = function(&table.alloc_params, "cuGraphMemAllocNodeGetParams")) != NULL &&
            (result = ((PFN_cuGraphMemAllocNodeGetParams_v11040)ask)(node, &alloc)) == CUDA_SUCCESS)
            memcpy(&params.alloc, &alloc, sizeof alloc);
        break;
    case CU_GRAPH_NODE_TYPE_MEM_FREE:
        if ((ask = function(&table.free_params, "cuGraphMemFreeNodeGetParams")) != NULL)
            result = ((PFN_cuGraphMemFreeNodeGetParams_v11040)ask)(node, &params.free.dptr);
        break;
    case CU_GRAPH_NODE_TYPE_BATCH_MEM_OP:
        if ((ask = function(&table.memop_params, "cuGraphBatchMemOpNodeGetParams")) != NULL &&
            (result = ((PFN_cuGraphBatchMemOpNodeGetParams_v11070)ask)(node, &memop)) ==
                CUDA_SUCCESS)
            memcpy(&params.memOp, &memop, sizeof memop);
        break;
    case CU_GRAPH_NODE_TYPE_EXT_SEMAS_SIGNAL:
        if ((ask = function(&table.signal_params,
                            "cuGraphExternalSemaphoresSignalNodeGetParams")) != NULL &&
            (result = ((PFN_cuGraphExternalSemaphoresSignalNodeGetParams_v11020)ask)(
                 node, &signal)) == CUDA_SUCCESS)
            memcpy(&params.extSemSignal, &signal, sizeof signal);
        break;
    case CU_GRAPH_NODE_TYPE_EXT_SEMAS_WAIT:
        if ((ask = function(&table.wait_params, "cuGraphExternalSemaphoresWaitNodeGetParams")) !=
                NULL &&
            (result = ((PFN_cuGraphExternalSemaphoresWaitNodeGetParams_v11020)ask)(node, &wait)) ==
                CUDA_SUCCESS)
            memcpy(&params.extSemWait, &wait, sizeof wait);
        break;
    default:
        result = graph_node_ask_copy_batch(node, &params);
        break;
    }
    return result == CUDA_SUCCESS ? graph_node_of_params(&params, stack) : NULL;
}
