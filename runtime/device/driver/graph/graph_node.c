/* Nodes: makes them, queries what they do, and changes it, in a graph or in an executable one. All
 * forms are turned into CUgraphNodeParams, the form of cuGraphAddNode. The file that makes such
 * work for streams also makes it for nodes. */
#include "runtime/device/driver/external_semaphore.h"
#include "runtime/device/driver/graph/graph_conditional.h"

#include <string.h>

/* ---- What a node does ------------------------------------------------------------------------ */

static CUDA_KERNEL_NODE_PARAMS_v2 kernel_of(const CUDA_KERNEL_NODE_PARAMS_v3 *kernel)
{
    CUDA_KERNEL_NODE_PARAMS_v2 params;
    _Static_assert(sizeof params == sizeof *kernel, "the two forms are one");
    memcpy(&params, kernel, sizeof params);
    return params;
}

static CUDA_MEMSET_NODE_PARAMS_v1 set_of(const CUDA_MEMSET_NODE_PARAMS_v2 *set)
{
    return (CUDA_MEMSET_NODE_PARAMS_v1){.dst = set->dst,
                                        .pitch = set->pitch,
                                        .value = set->value,
                                        .elementSize = set->elementSize,
                                        .width = set->width,
                                        .height = set->height};
}

/* The item of a node that has one. `before`: what the node did so far, or NULL. */
static CUresult make_work(const CUgraphNodeParams *params, const struct item *before,
                          struct item **work)
{
    CUDA_KERNEL_NODE_PARAMS_v2 kernel;
    CUDA_MEMSET_NODE_PARAMS_v1 set;
    CUDA_HOST_NODE_PARAMS_v1 host;
    CUDA_BATCH_MEM_OP_NODE_PARAMS memops;
    CUDA_EXT_SEM_SIGNAL_NODE_PARAMS_v1 signal;
    CUDA_EXT_SEM_WAIT_NODE_PARAMS_v1 wait;
    _Static_assert(sizeof memops == sizeof params->memOp, "the two forms are one");
    switch (params->type) {
    case CU_GRAPH_NODE_TYPE_KERNEL:
        kernel = kernel_of(&params->kernel);
        return launch_of_node(&kernel, before, work);
    case CU_GRAPH_NODE_TYPE_MEMCPY:
        return copy_of_node(&params->memcpy.copyParams, work);
    case CU_GRAPH_NODE_TYPE_MEMSET:
        set = set_of(&params->memset);
        return set_of_node(&set, work);
    case CU_GRAPH_NODE_TYPE_HOST:
        host = (CUDA_HOST_NODE_PARAMS_v1){params->host.fn, params->host.userData};
        return hostfunc_of_node(&host, work);
    case CU_GRAPH_NODE_TYPE_BATCH_MEM_OP:
        memcpy(&memops, &params->memOp, sizeof memops);
        return memop_of_node(&memops, work);
    case CU_GRAPH_NODE_TYPE_EXT_SEMAS_SIGNAL:
        memcpy(&signal, &params->extSemSignal, sizeof signal);
        return signal_of_node(&signal, work);
    case CU_GRAPH_NODE_TYPE_EXT_SEMAS_WAIT:
        memcpy(&wait, &params->extSemWait, sizeof wait);
        return wait_of_node(&wait, work);
    default:
        *work = NULL;
        return CUDA_SUCCESS;
    }
}

/* "Graphs containing memory allocation or memory free nodes must set the ownership to be moved to
 * the parent" (CUDA_CHILD_GRAPH_NODE_PARAMS). A graph cannot be its own child. */
static CUresult make_child(const CUDA_CHILD_GRAPH_NODE_PARAMS *params, const struct CUgraph_st *of,
                           struct CUgraph_st **child)
{
    struct CUgraph_st *graph = object_find(params->graph, OBJECT_GRAPH);
    bool moved = params->ownership == CU_GRAPH_CHILD_GRAPH_OWNERSHIP_MOVE;
    if (!graph || graph->of_exec || graph == of || graph->capturing)
        return CUDA_ERROR_INVALID_VALUE;
    if (!moved && graph_has_memory(graph))
        return CUDA_ERROR_NOT_SUPPORTED;
    if (moved && graph->owner)
        return CUDA_ERROR_INVALID_VALUE;
    *child = moved ? graph : graph_clone(graph, false);
    return *child ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

static CUresult allocate(CUDA_MEM_ALLOC_NODE_PARAMS_v2 *params, struct CUgraphNode_st *node)
{
    if (!params->bytesize || params->poolProps.allocType != CU_MEM_ALLOCATION_TYPE_PINNED ||
        params->poolProps.handleTypes != CU_MEM_HANDLE_TYPE_NONE ||
        params->poolProps.location.type != CU_MEM_LOCATION_TYPE_DEVICE ||
        params->poolProps.location.id != 0)
        return CUDA_ERROR_INVALID_VALUE;
    struct graph_block *block = graph_block_create(params->bytesize);
    if (!block)
        return CUDA_ERROR_OUT_OF_MEMORY;
    block->references = 1;
    params->dptr = block->address;
    _Static_assert(sizeof node->memory == sizeof *params, "the two forms are one");
    memcpy(&node->memory, params, sizeof node->memory);
    return CUDA_SUCCESS;
}

/* "CUDA_ERROR_INVALID_VALUE if the user attempts to free an allocation twice in the same graph, an
 * address that was not returned by an allocation node, an invalid address" */
static CUresult release(const CUDA_MEM_FREE_NODE_PARAMS *params, struct CUgraphNode_st *node)
{
    if (!graph_block_at(params->dptr))
        return CUDA_ERROR_INVALID_VALUE;
    for (const struct CUgraphNode_st *other = node->graph->first; other; other = other->next)
        if (other->type == CU_GRAPH_NODE_TYPE_MEM_FREE && other->memory.dptr == params->dptr)
            return CUDA_ERROR_INVALID_VALUE;
    node->memory.dptr = params->dptr;
    return CUDA_SUCCESS;
}

/* What a new node does. `params` also receives the node's result: an address. */
static CUresult equip(struct CUgraphNode_st *node, CUgraphNodeParams *params)
{
    CUresult result = CUDA_SUCCESS;
    switch (params->type) {
    case CU_GRAPH_NODE_TYPE_KERNEL:
    case CU_GRAPH_NODE_TYPE_MEMCPY:
    case CU_GRAPH_NODE_TYPE_MEMSET:
    case CU_GRAPH_NODE_TYPE_HOST:
    case CU_GRAPH_NODE_TYPE_BATCH_MEM_OP:
    case CU_GRAPH_NODE_TYPE_EXT_SEMAS_SIGNAL:
    case CU_GRAPH_NODE_TYPE_EXT_SEMAS_WAIT:
        return make_work(params, NULL, &node->work);
    case CU_GRAPH_NODE_TYPE_GRAPH:
        result = make_child(&params->graph, node->graph, &node->child);
        if (result != CUDA_SUCCESS)
            return result;
        node->child->owner = node;
        params->graph.graph = node->child;
        return result;
    case CU_GRAPH_NODE_TYPE_EMPTY:
        return CUDA_SUCCESS;
    case CU_GRAPH_NODE_TYPE_EVENT_RECORD:
        node->event = params->eventRecord.event;
        return object_find(node->event, OBJECT_EVENT) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
    case CU_GRAPH_NODE_TYPE_WAIT_EVENT:
        node->event = params->eventWait.event;
        return object_find(node->event, OBJECT_EVENT) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
    case CU_GRAPH_NODE_TYPE_MEM_ALLOC:
        return allocate(&params->alloc, node);
    case CU_GRAPH_NODE_TYPE_MEM_FREE:
        return release(&params->free, node);
    case CU_GRAPH_NODE_TYPE_CONDITIONAL:
        return conditional_of_params(&params->conditional, node);
    default:
        return CUDA_ERROR_INVALID_VALUE;
    }
}

static CUresult add(CUgraphNode *made, CUgraph handle, const CUgraphNode *dependencies,
                    size_t count, CUgraphNodeParams *params)
{
    struct CUctx_st *context;
    struct CUgraphNode_st *node;
    CUresult result = device_enter_context(&context);
    if (result != CUDA_SUCCESS)
        return result;
    struct CUgraph_st *graph = object_find(handle, OBJECT_GRAPH);
    if (!made || !graph || graph->of_exec || !params || (count && !dependencies))
        return device_leave(CUDA_ERROR_INVALID_VALUE);
    result = node_create(graph, params->type, dependencies, count, &node);
    if (result != CUDA_SUCCESS)
        return device_leave(result);
    result = equip(node, params);
    if (result != CUDA_SUCCESS)
        node_destroy(node);
    else
        *made = node;
    return device_leave(result);
}

/* ---- Adding ------------------------------------------------------------------------------------
 */

CUresult CUDAAPI cuGraphAddNode_v2(CUgraphNode *phGraphNode, CUgraph hGraph,
                                   const CUgraphNode *dependencies,
                                   const CUgraphEdgeData *dependencyData, size_t numDependencies,
                                   CUgraphNodeParams *nodeParams)
{
    if (!graph_edges_are_plain(dependencyData, numDependencies))
        return device_lacks("an edge that is no full dependency");
    return add(phGraphNode, hGraph, dependencies, numDependencies, nodeParams);
}

CUresult CUDAAPI cuGraphAddNode(CUgraphNode *phGraphNode, CUgraph hGraph,
                                const CUgraphNode *dependencies, size_t numDependencies,
                                CUgraphNodeParams *nodeParams)
{
    return add(phGraphNode, hGraph, dependencies, numDependencies, nodeParams);
}

CUresult CUDAAPI cuGraphAddEmptyNode(CUgraphNode *phGraphNode, CUgraph hGraph,
                                     const CUgraphNode *dependencies, size_t numDependencies)
{
    CUgraphNodeParams params = {.type = CU_GRAPH_NODE_TYPE_EMPTY};
    return add(phGraphNode, hGraph, dependencies, numDependencies, &params);
}

CUresult CUDAAPI cuGraphAddMemAllocNode(CUgraphNode *phGraphNode, CUgraph hGraph,
                                        const CUgraphNode *dependencies, size_t numDependencies,
                                        CUDA_MEM_ALLOC_NODE_PARAMS *nodeParams)
{
    CUgraphNodeParams params = {.type = CU_GRAPH_NODE_TYPE_MEM_ALLOC};
    if (!nodeParams)
        return CUDA_ERROR_INVALID_VALUE;
    memcpy(&params.alloc, nodeParams, sizeof *nodeParams);
    CUresult result = add(phGraphNode, hGraph, dependencies, numDependencies, &params);
    if (result == CUDA_SUCCESS)
        nodeParams->dptr = params.alloc.dptr;
    return result;
}

/* ---- Asking ------------------------------------------------------------------------------------
 */

static CUresult enter(CUgraphNode handle, CUgraphNodeType type, const void *answer,
                      struct CUgraphNode_st **node)
{
    CUresult result = device_enter();
    if (result != CUDA_SUCCESS)
        return result;
    *node = object_find(handle, OBJECT_NODE);
    if (!*node || (*node)->graph->of_exec || (*node)->type != type || !answer)
        return device_leave(CUDA_ERROR_INVALID_VALUE);
    return CUDA_SUCCESS;
}

/* An entry point that answers where the program wants it, of nodes of one kind. */
#define ASKS(function, kind, answer_type, answers)                                                 \
    CUresult CUDAAPI function(CUgraphNode handle, answer_type *answer)                             \
    {                                                                                              \
        struct CUgraphNode_st *node;                                                               \
        CUresult result = enter(handle, CU_GRAPH_NODE_TYPE_##kind, answer, &node);                 \
        if (result != CUDA_SUCCESS)                                                                \
            return result;                                                                         \
        answers;                                                                                   \
        return device_leave(CUDA_SUCCESS);                                                         \
    }

ASKS(cuGraphKernelNodeGetParams_v2, KERNEL, CUDA_KERNEL_NODE_PARAMS_v2,
     launch_describe(node->work, answer))
ASKS(cuGraphMemcpyNodeGetParams, MEMCPY, CUDA_MEMCPY3D, copy_describe(node->work, answer))
ASKS(cuGraphMemsetNodeGetParams, MEMSET, CUDA_MEMSET_NODE_PARAMS_v1,
     set_describe(node->work, answer))
ASKS(cuGraphHostNodeGetParams, HOST, CUDA_HOST_NODE_PARAMS_v1,
     hostfunc_describe(node->work, answer))
ASKS(cuGraphBatchMemOpNodeGetParams, BATCH_MEM_OP, CUDA_BATCH_MEM_OP_NODE_PARAMS,
     memop_describe(node->work, context_current(), answer))
ASKS(cuGraphExternalSemaphoresSignalNodeGetParams, EXT_SEMAS_SIGNAL,
     CUDA_EXT_SEM_SIGNAL_NODE_PARAMS_v1, signal_describe(node->work, answer))
ASKS(cuGraphExternalSemaphoresWaitNodeGetParams, EXT_SEMAS_WAIT, CUDA_EXT_SEM_WAIT_NODE_PARAMS_v1,
     wait_describe(node->work, answer))
ASKS(cuGraphChildGraphNodeGetGraph, GRAPH, CUgraph, *answer = node->child)
ASKS(cuGraphEventRecordNodeGetEvent, EVENT_RECORD, CUevent, *answer = node->event)
ASKS(cuGraphEventWaitNodeGetEvent, WAIT_EVENT, CUevent, *answer = node->event)
ASKS(cuGraphMemAllocNodeGetParams, MEM_ALLOC, CUDA_MEM_ALLOC_NODE_PARAMS_v1, *answer = node->memory)
ASKS(cuGraphMemFreeNodeGetParams, MEM_FREE, CUdeviceptr, *answer = node->memory.dptr)

CUresult CUDAAPI cuGraphKernelNodeGetParams(CUgraphNode hNode,
                                            CUDA_KERNEL_NODE_PARAMS_v1 *nodeParams)
{
    CUDA_KERNEL_NODE_PARAMS_v2 params;
    if (!nodeParams)
        return CUDA_ERROR_INVALID_VALUE;
    CUresult result = cuGraphKernelNodeGetParams_v2(hNode, &params);
    if (result == CUDA_SUCCESS)
        memcpy(nodeParams, &params, sizeof *nodeParams);
    return result;
}

/* ---- Changing ----------------------------------------------------------------------------------
 */

/* The node's twin in an exec, or in a child graph of it. */
static struct CUgraphNode_st *twin(struct CUgraph_st *graph, CUgraphNode handle)
{
    for (struct CUgraphNode_st *node = graph->first; node; node = node->next) {
        struct CUgraphNode_st *found = node->original == handle ? node
                                       : node->child            ? twin(node->child, handle)
                                                                : NULL;
        for (unsigned i = 0; !found && node->conditional && i < node->conditional->size; i++)
            found = twin(node->conditional->bodies[i], handle);
        if (found)
            return found;
    }
    return NULL;
}

/* The node that a call is about: the program's own, or its twin in an exec. */
static struct CUgraphNode_st *find(CUgraphExec exec_handle, bool in_exec, CUgraphNode handle)
{
    if (!in_exec) {
        struct CUgraphNode_st *node = object_find(handle, OBJECT_NODE);
        return node && !node->graph->of_exec ? node : NULL;
    }
    struct CUgraphExec_st *exec = object_find(exec_handle, OBJECT_EXEC);
    return exec && handle ? twin(exec->graph, handle) : NULL;
}

/* A child graph in an exec may change in its nodes' parameters only. */
static bool same_shape(const struct CUgraph_st *a, const struct CUgraph_st *b)
{
    const struct CUgraphNode_st *left = a->first, *right = b->first;
    for (; left && right; left = left->next, right = right->next)
        if (left->type != right->type || left->dependencies.count != right->dependencies.count ||
            (left->child && !same_shape(left->child, right->child)))
            return false;
    return !left && !right;
}

static CUresult change_child(struct CUgraphNode_st *node, const CUDA_CHILD_GRAPH_NODE_PARAMS *to)
{
    struct CUgraph_st *graph = object_find(to->graph, OBJECT_GRAPH);
    if (!graph || !same_shape(node->child, graph))
        return CUDA_ERROR_INVALID_VALUE;
    const struct CUgraphNode_st *from = graph->first;
    for (struct CUgraphNode_st *own = node->child->first; own; own = own->next, from = from->next) {
        struct item *work = from->work ? from->work->again(from->work) : NULL;
        if (from->work && !work)
            return CUDA_ERROR_OUT_OF_MEMORY;
        if (own->work)
            queue_drop(own->work);
        own->work = work;
        own->event = from->event;
        CUDA_CHILD_GRAPH_NODE_PARAMS inner = {.graph = from->child};
        if (own->child)
            change_child(own, &inner);
    }
    return CUDA_SUCCESS;
}

static CUresult change(struct CUgraphNode_st *node, const CUgraphNodeParams *params)
{
    CUevent event = params->type == CU_GRAPH_NODE_TYPE_EVENT_RECORD ? params->eventRecord.event
                                                                    : params->eventWait.event;
    struct item *work;
    CUresult result;
    switch (params->type) {
    case CU_GRAPH_NODE_TYPE_KERNEL:
    case CU_GRAPH_NODE_TYPE_MEMCPY:
    case CU_GRAPH_NODE_TYPE_MEMSET:
    case CU_GRAPH_NODE_TYPE_HOST:
    case CU_GRAPH_NODE_TYPE_BATCH_MEM_OP:
    case CU_GRAPH_NODE_TYPE_EXT_SEMAS_SIGNAL:
    case CU_GRAPH_NODE_TYPE_EXT_SEMAS_WAIT:
        result = make_work(params, node->work, &work);
        if (result != CUDA_SUCCESS)
            return result;
        queue_drop(node->work);
        node->work = work;
        return CUDA_SUCCESS;
    case CU_GRAPH_NODE_TYPE_EVENT_RECORD:
    case CU_GRAPH_NODE_TYPE_WAIT_EVENT:
        if (!object_find(event, OBJECT_EVENT))
            return CUDA_ERROR_INVALID_VALUE;
        node->event = event;
        return CUDA_SUCCESS;
    case CU_GRAPH_NODE_TYPE_GRAPH:
        return node->graph->of_exec ? change_child(node, &params->graph) : CUDA_ERROR_INVALID_VALUE;
    default:
        return CUDA_ERROR_INVALID_VALUE;
    }
}

static CUresult set_params(CUgraphExec exec, bool in_exec, CUgraphNode handle,
                           const CUgraphNodeParams *params)
{
    struct CUctx_st *context;
    CUresult result = device_enter_context(&context);
    if (result != CUDA_SUCCESS)
        return result;
    struct CUgraphNode_st *node = find(exec, in_exec, handle);
    if (!node || node->type != params->type)
        return device_leave(CUDA_ERROR_INVALID_VALUE);
    return device_leave(change(node, params));
}

CUresult CUDAAPI cuGraphNodeSetParams(CUgraphNode hNode, CUgraphNodeParams *nodeParams)
{
    return nodeParams ? set_params(NULL, false, hNode, nodeParams) : CUDA_ERROR_INVALID_VALUE;
}

CUresult CUDAAPI cuGraphExecNodeSetParams(CUgraphExec hGraphExec, CUgraphNode hNode,
                                          CUgraphNodeParams *nodeParams)
{
    return nodeParams ? set_params(hGraphExec, true, hNode, nodeParams) : CUDA_ERROR_INVALID_VALUE;
}

/* ---- Nodes of one kind -------------------------------------------------------------------------
 */

/* Each kind's own parameters, as the generic ones have them. False: the program gave none. CUDA
 * 10's form of a kernel lacks the handle and the context, which are the last members. */

static bool of_kernel_v1(const CUDA_KERNEL_NODE_PARAMS_v1 *kernel, CUgraphNodeParams *params)
{
    params->type = CU_GRAPH_NODE_TYPE_KERNEL;
    if (kernel)
        memcpy(&params->kernel, kernel, sizeof *kernel);
    return kernel;
}

static bool of_kernel(const CUDA_KERNEL_NODE_PARAMS_v2 *kernel, CUgraphNodeParams *params)
{
    params->type = CU_GRAPH_NODE_TYPE_KERNEL;
    if (kernel)
        memcpy(&params->kernel, kernel, sizeof *kernel);
    return kernel;
}

static bool of_copy(const CUDA_MEMCPY3D *copy, CUgraphNodeParams *params)
{
    params->type = CU_GRAPH_NODE_TYPE_MEMCPY;
    if (copy)
        params->memcpy.copyParams = *copy;
    return copy;
}

static bool of_set(const CUDA_MEMSET_NODE_PARAMS_v1 *set, CUgraphNodeParams *params)
{
    params->type = CU_GRAPH_NODE_TYPE_MEMSET;
    if (set)
        memcpy(&params->memset, set, sizeof *set);
    return set;
}

static bool of_host(const CUDA_HOST_NODE_PARAMS_v1 *host, CUgraphNodeParams *params)
{
    params->type = CU_GRAPH_NODE_TYPE_HOST;
    if (host)
        memcpy(&params->host, host, sizeof *host);
    return host;
}

static bool of_memops(const CUDA_BATCH_MEM_OP_NODE_PARAMS *memops, CUgraphNodeParams *params)
{
    params->type = CU_GRAPH_NODE_TYPE_BATCH_MEM_OP;
    if (memops)
        memcpy(&params->memOp, memops, sizeof *memops);
    return memops;
}

static bool of_signals(const CUDA_EXT_SEM_SIGNAL_NODE_PARAMS_v1 *signal, CUgraphNodeParams *params)
{
    params->type = CU_GRAPH_NODE_TYPE_EXT_SEMAS_SIGNAL;
    if (signal)
        memcpy(&params->extSemSignal, signal, sizeof *signal);
    return signal;
}

static bool of_waits(const CUDA_EXT_SEM_WAIT_NODE_PARAMS_v1 *wait, CUgraphNodeParams *params)
{
    params->type = CU_GRAPH_NODE_TYPE_EXT_SEMAS_WAIT;
    if (wait)
        memcpy(&params->extSemWait, wait, sizeof *wait);
    return wait;
}

static bool of_record(CUevent event, CUgraphNodeParams *params)
{
    params->type = CU_GRAPH_NODE_TYPE_EVENT_RECORD;
    params->eventRecord.event = event;
    return true;
}

static bool of_wait(CUevent event, CUgraphNodeParams *params)
{
    params->type = CU_GRAPH_NODE_TYPE_WAIT_EVENT;
    params->eventWait.event = event;
    return true;
}

static bool of_child(CUgraph graph, CUgraphNodeParams *params)
{
    params->type = CU_GRAPH_NODE_TYPE_GRAPH;
    params->graph.graph = graph;
    return true;
}

static bool of_free(CUdeviceptr address, CUgraphNodeParams *params)
{
    params->type = CU_GRAPH_NODE_TYPE_MEM_FREE;
    params->free.dptr = address;
    return true;
}

/* Entry points that add such nodes, and that give them something else to do: `put` makes the
 * generic parameters of what is given. What else is given says nothing here. */
#define ADDS(function, given, put, ...)                                                            \
    CUresult CUDAAPI function(CUgraphNode *made, CUgraph graph, const CUgraphNode *dependencies,   \
                              size_t count, given what, ##__VA_ARGS__)                             \
    {                                                                                              \
        CUgraphNodeParams params = {0};                                                            \
        return put(what, &params) ? add(made, graph, dependencies, count, &params)                 \
                                  : CUDA_ERROR_INVALID_VALUE;                                      \
    }
#define SETS(function, given, put)                                                                 \
    CUresult CUDAAPI function(CUgraphNode node, given what)                                        \
    {                                                                                              \
        CUgraphNodeParams params = {0};                                                            \
        return put(what, &params) ? set_params(NULL, false, node, &params)                         \
                                  : CUDA_ERROR_INVALID_VALUE;                                      \
    }
#define SETS_IN_EXEC(function, given, put, ...)                                                    \
    CUresult CUDAAPI function(CUgraphExec exec, CUgraphNode node, given what, ##__VA_ARGS__)       \
    {                                                                                              \
        CUgraphNodeParams params = {0};                                                            \
        return put(what, &params) ? set_params(exec, true, node, &params)                          \
                                  : CUDA_ERROR_INVALID_VALUE;                                      \
    }
#define NODES(kind, version, parameters, given, put, ...)                                          \
    ADDS(cuGraphAdd##kind##Node##version, given, put, ##__VA_ARGS__)                               \
    SETS(cuGraph##kind##NodeSet##parameters##version, given, put)                                  \
    SETS_IN_EXEC(cuGraphExec##kind##NodeSet##parameters##version, given, put, ##__VA_ARGS__)
/* All contexts are of the one device. */
#define ANY_CONTEXT __attribute__((unused)) CUcontext context

NODES(Kernel, , Params, const CUDA_KERNEL_NODE_PARAMS_v1 *, of_kernel_v1)
NODES(Kernel, _v2, Params, const CUDA_KERNEL_NODE_PARAMS_v2 *, of_kernel)
NODES(Memcpy, , Params, const CUDA_MEMCPY3D *, of_copy, ANY_CONTEXT)
NODES(Memset, , Params, const CUDA_MEMSET_NODE_PARAMS_v1 *, of_set, ANY_CONTEXT)
NODES(Host, , Params, const CUDA_HOST_NODE_PARAMS_v1 *, of_host)
NODES(EventRecord, , Event, CUevent, of_record)
NODES(BatchMemOp, , Params, const CUDA_BATCH_MEM_OP_NODE_PARAMS *, of_memops)
NODES(EventWait, , Event, CUevent, of_wait)
NODES(ExternalSemaphoresSignal, , Params, const CUDA_EXT_SEM_SIGNAL_NODE_PARAMS_v1 *, of_signals)
NODES(ExternalSemaphoresWait, , Params, const CUDA_EXT_SEM_WAIT_NODE_PARAMS_v1 *, of_waits)
ADDS(cuGraphAddChildGraphNode, CUgraph, of_child)
SETS_IN_EXEC(cuGraphExecChildGraphNodeSetParams, CUgraph, of_child)
ADDS(cuGraphAddMemFreeNode, CUdeviceptr, of_free)

/* ---- Switched off ------------------------------------------------------------------------------
 */

/* "Only kernel, memset and memcpy nodes can currently be enabled/disabled." */
static struct CUgraphNode_st *find_switchable(CUgraphExec exec, CUgraphNode handle)
{
    struct CUgraphNode_st *node = find(exec, true, handle);
    bool can = node &&
               (node->type == CU_GRAPH_NODE_TYPE_KERNEL ||
                node->type == CU_GRAPH_NODE_TYPE_MEMCPY || node->type == CU_GRAPH_NODE_TYPE_MEMSET);
    return can ? node : NULL;
}

CUresult CUDAAPI cuGraphNodeSetEnabled(CUgraphExec hGraphExec, CUgraphNode hNode,
                                       unsigned int isEnabled)
{
    CUresult result = device_enter();
    if (result != CUDA_SUCCESS)
        return result;
    struct CUgraphNode_st *node = find_switchable(hGraphExec, hNode);
    if (!node)
        return device_leave(CUDA_ERROR_INVALID_VALUE);
    node->disabled = !isEnabled;
    return device_leave(CUDA_SUCCESS);
}

CUresult CUDAAPI cuGraphNodeGetEnabled(CUgraphExec hGraphExec, CUgraphNode hNode,
                                       unsigned int *isEnabled)
{
    CUresult result = device_enter();
    if (result != CUDA_SUCCESS)
        return result;
    struct CUgraphNode_st *node = find_switchable(hGraphExec, hNode);
    if (!node || !isEnabled)
        return device_leave(CUDA_ERROR_INVALID_VALUE);
    *isEnabled = !node->disabled;
    return device_leave(CUDA_SUCCESS);
}

/* ---- Attributes of kernel nodes: hints ---------------------------------------------------------
 */

CUresult CUDAAPI cuGraphKernelNodeGetAttribute(CUgraphNode hNode, CUkernelNodeAttrID attr,
                                               CUkernelNodeAttrValue *value_out)
{
    struct CUgraphNode_st *node;
    CUresult result = enter(hNode, CU_GRAPH_NODE_TYPE_KERNEL, value_out, &node);
    if (result != CUDA_SUCCESS)
        return result;
    if ((unsigned)attr >= NODE_ATTRIBUTES)
        return device_leave(CUDA_ERROR_INVALID_VALUE);
    *value_out = node->attributes[attr];
    return device_leave(CUDA_SUCCESS);
}

CUresult CUDAAPI cuGraphKernelNodeSetAttribute(CUgraphNode hNode, CUkernelNodeAttrID attr,
                                               const CUkernelNodeAttrValue *value)
{
    struct CUgraphNode_st *node;
    CUresult result = enter(hNode, CU_GRAPH_NODE_TYPE_KERNEL, value, &node);
    if (result != CUDA_SUCCESS)
        return result;
    if ((unsigned)attr >= NODE_ATTRIBUTES)
        return device_leave(CUDA_ERROR_INVALID_VALUE);
    if (attr == CU_LAUNCH_ATTRIBUTE_COOPERATIVE || attr == CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION)
        return device_leave(device_lacks("a cooperative or cluster attribute of a kernel node"));
    node->attributes[attr] = *value;
    return device_leave(CUDA_SUCCESS);
}

CUresult CUDAAPI cuGraphKernelNodeCopyAttributes(CUgraphNode dst, CUgraphNode src)
{
    struct CUgraphNode_st *to;
    CUresult result = enter(dst, CU_GRAPH_NODE_TYPE_KERNEL, src, &to);
    if (result != CUDA_SUCCESS)
        return result;
    struct CUgraphNode_st *from = object_find(src, OBJECT_NODE);
    if (!to || !from || from->type != CU_GRAPH_NODE_TYPE_KERNEL)
        return device_leave(CUDA_ERROR_INVALID_VALUE);
    memcpy(to->attributes, from->attributes, sizeof to->attributes);
    return device_leave(CUDA_SUCCESS);
}
