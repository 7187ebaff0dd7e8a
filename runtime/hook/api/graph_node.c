/* The hooks of nodes that are added by hand, of their parameters, and of graphs as a whole. What
 * each node does is noted under its handle (graph_node_accesses.h), with the stack of the call that
 * added or changed it. */
#include "driver_hooks.h"
#include "runtime/hook/state/callsite.h"
#include "runtime/hook/graph/graph.h"
#include "runtime/hook/graph/graph_bodies.h"
#include "runtime/hook/graph/graph_code.h"
#include "runtime/hook/session/guard.h"
#include "runtime/hook/state/host_function.h"
#include "runtime/hook/graph/graph_node_accesses.h"
#include "runtime/hook/graph/graph_topology.h"
#include "runtime/hook/session/session.h"

#include <string.h>

static struct {
    void *child_graph;
} ask;

/* ---- Parameters in the generic form ---------------------------------------------------------- */

static CUgraphNodeParams of_kernel_v1(const CUDA_KERNEL_NODE_PARAMS_v1 *kernel)
{
    CUgraphNodeParams params = {.type = CU_GRAPH_NODE_TYPE_KERNEL};
    memcpy(&params.kernel, kernel, sizeof *kernel); /* the newer form has more at its end */
    return params;
}

static CUgraphNodeParams of_kernel(const CUDA_KERNEL_NODE_PARAMS_v2 *kernel)
{
    CUgraphNodeParams params = {.type = CU_GRAPH_NODE_TYPE_KERNEL};
    memcpy(&params.kernel, kernel, sizeof *kernel);
    return params;
}

static CUgraphNodeParams of_copy(const CUDA_MEMCPY3D_v2 *copy)
{
    return (CUgraphNodeParams){.type = CU_GRAPH_NODE_TYPE_MEMCPY, .memcpy = {.copyParams = *copy}};
}

static CUgraphNodeParams of_set(const CUDA_MEMSET_NODE_PARAMS_v1 *set)
{
    CUgraphNodeParams params = {.type = CU_GRAPH_NODE_TYPE_MEMSET};
    memcpy(&params.memset, set, sizeof *set);
    return params;
}

static CUgraphNodeParams of_host(const CUDA_HOST_NODE_PARAMS_v1 *host)
{
    return (CUgraphNodeParams){.type = CU_GRAPH_NODE_TYPE_HOST,
                               .host = {.fn = host->fn, .userData = host->userData}};
}

static CUgraphNodeParams of_child(CUgraph graph)
{
    CUgraphNodeParams params = {.type = CU_GRAPH_NODE_TYPE_GRAPH};
    params.graph.graph = graph;
    return params;
}

static CUgraphNodeParams of_birth(const CUDA_MEM_ALLOC_NODE_PARAMS_v1 *memory)
{
    CUgraphNodeParams params = {.type = CU_GRAPH_NODE_TYPE_MEM_ALLOC};
    memcpy(&params.alloc, memory, sizeof *memory);
    return params;
}

static CUgraphNodeParams of_death(CUdeviceptr_v2 address)
{
    CUgraphNodeParams params = {.type = CU_GRAPH_NODE_TYPE_MEM_FREE};
    params.free.dptr = address;
    return params;
}

static CUgraphNodeParams of_record(CUevent event)
{
    CUgraphNodeParams params = {.type = CU_GRAPH_NODE_TYPE_EVENT_RECORD};
    params.eventRecord.event = event;
    return params;
}

static CUgraphNodeParams of_wait(CUevent event)
{
    CUgraphNodeParams params = {.type = CU_GRAPH_NODE_TYPE_WAIT_EVENT};
    params.eventWait.event = event;
    return params;
}

static CUgraphNodeParams of_memops(const CUDA_BATCH_MEM_OP_NODE_PARAMS *memops)
{
    CUgraphNodeParams params = {.type = CU_GRAPH_NODE_TYPE_BATCH_MEM_OP};
    memcpy(&params.memOp, memops, sizeof *memops);
    return params;
}

static CUgraphNodeParams of_signal(const CUDA_EXT_SEM_SIGNAL_NODE_PARAMS_v1 *signal)
{
    CUgraphNodeParams params = {.type = CU_GRAPH_NODE_TYPE_EXT_SEMAS_SIGNAL};
    memcpy(&params.extSemSignal, signal, sizeof *signal);
    return params;
}

static CUgraphNodeParams of_semaphore_wait(const CUDA_EXT_SEM_WAIT_NODE_PARAMS_v1 *wait)
{
    CUgraphNodeParams params = {.type = CU_GRAPH_NODE_TYPE_EXT_SEMAS_WAIT};
    memcpy(&params.extSemWait, wait, sizeof *wait);
    return params;
}

/* What the node does, with the stack of this call. */
static struct graph_node_work *work_here(const CUgraphNodeParams *params)
{
    struct callsite_stack stack;
    callsite_capture(&stack);
    if (params->type == CU_GRAPH_NODE_TYPE_HOST)
        return graph_node_work_host(callsite_intern(&stack, "a host node", NULL, 0),
                                    host_node_of(params->host.fn, params->host.userData));
    return graph_node_of_params(params, &stack);
}

static void note(CUgraphNode node, CUgraphNodeParams params)
{
    graph_node_note(node, work_here(&params));
}

static void note_in_exec(CUgraphExec exec, CUgraphNode node, CUgraphNodeParams params)
{
    switch (params.type) {
    case CU_GRAPH_NODE_TYPE_GRAPH:
        graph_child_changed(exec, node, params.graph.graph);
        break;
    case CU_GRAPH_NODE_TYPE_EVENT_RECORD:
        graph_event_changed(exec, node, params.eventRecord.event);
        break;
    case CU_GRAPH_NODE_TYPE_WAIT_EVENT:
        graph_event_changed(exec, node, params.eventWait.event);
        break;
    default:
        graph_node_changed(exec, node, work_here(&params), graph_node_code(&params));
        break;
    }
}

/* The node has a copy of the graph. */
static void note_child(CUgraphNode node, CUgraph graph)
{
    CUgraph child = NULL;
    PFN_cuGraphChildGraphNodeGetGraph_v10000 get =
        (PFN_cuGraphChildGraphNodeGetGraph_v10000)driver_function_cached(
            &ask.child_graph, "cuGraphChildGraphNodeGetGraph");
    if (get && get(node, &child) == CUDA_SUCCESS && child != graph)
        graph_topology_copy_notes(graph, child);
}

/* After the driver changed a node of an exec, or would not. */
static CUresult changed(struct graph_code *code, CUresult result, CUgraphExec exec,
                        CUgraphNode node, const CUgraphNodeParams *params)
{
    graph_code_end(code, result);
    if (result == CUDA_SUCCESS)
        note_in_exec(exec, node, *params);
    return result;
}

/* ---- Nodes of one kind -------------------------------------------------------------------------
 */

/* Hooks that add such a node, that give it something else to do, and that do so in an exec, whose
 * kernels' code the exec may come to keep. `put` makes the generic parameters of `what`, which is
 * the first of the kind's own `parameters`; `arguments` are their names. */
#define LIST(...) __VA_ARGS__
#define ADDS(hook, function, put, parameters, arguments)                                           \
    CUresult hook_##hook(const struct driver_entry *entry, CUgraphNode *node, CUgraph graph,       \
                         const CUgraphNode *dependencies, size_t count, LIST parameters)           \
    {                                                                                              \
        MAKE_AND_NOTE(                                                                             \
            DRIVER_REAL(entry, function)(node, graph, dependencies, count, LIST arguments),        \
            note(*node, put(what)));                                                               \
    }
#define SETS(hook, function, put, parameters)                                                      \
    CUresult hook_##hook(const struct driver_entry *entry, CUgraphNode node, LIST parameters)      \
    {                                                                                              \
        MAKE_AND_NOTE(DRIVER_REAL(entry, function)(node, what), note(node, put(what)));            \
    }
#define CHANGES(hook, function, put, parameters, arguments)                                        \
    CUresult hook_##hook(const struct driver_entry *entry, CUgraphExec exec, CUgraphNode node,     \
                         LIST parameters)                                                          \
    {                                                                                              \
        PFN_##function real = DRIVER_REAL(entry, function);                                        \
        if (!what)                                                                                 \
            return real(exec, node, LIST arguments);                                               \
        const CUgraphNodeParams params = put(what);                                                \
        struct graph_code code = graph_code_begin_node(&params);                                   \
        return changed(&code, real(exec, node, LIST arguments), exec, node, &params);              \
    }

ADDS(graph_add_kernel_node_v1, cuGraphAddKernelNode_v10000, of_kernel_v1,
     (const CUDA_KERNEL_NODE_PARAMS_v1 *what), (what))
SETS(graph_kernel_node_set_params_v1, cuGraphKernelNodeSetParams_v10000, of_kernel_v1,
     (const CUDA_KERNEL_NODE_PARAMS_v1 *what))
CHANGES(graph_exec_kernel_node_set_params_v1, cuGraphExecKernelNodeSetParams_v10010, of_kernel_v1,
        (const CUDA_KERNEL_NODE_PARAMS_v1 *what), (what))
ADDS(graph_add_kernel_node, cuGraphAddKernelNode_v12000, of_kernel,
     (const CUDA_KERNEL_NODE_PARAMS_v2 *what), (what))
SETS(graph_kernel_node_set_params, cuGraphKernelNodeSetParams_v12000, of_kernel,
     (const CUDA_KERNEL_NODE_PARAMS_v2 *what))
CHANGES(graph_exec_kernel_node_set_params, cuGraphExecKernelNodeSetParams_v12000, of_kernel,
        (const CUDA_KERNEL_NODE_PARAMS_v2 *what), (what))
ADDS(graph_add_copy_node, cuGraphAddMemcpyNode_v10000, of_copy,
     (const CUDA_MEMCPY3D_v2 *what, CUcontext context), (what, context))
SETS(graph_copy_node_set_params, cuGraphMemcpyNodeSetParams_v10000, of_copy,
     (const CUDA_MEMCPY3D_v2 *what))
CHANGES(graph_exec_copy_node_set_params, cuGraphExecMemcpyNodeSetParams_v10020, of_copy,
        (const CUDA_MEMCPY3D_v2 *what, CUcontext context), (what, context))
ADDS(graph_add_set_node, cuGraphAddMemsetNode_v10000, of_set,
     (const CUDA_MEMSET_NODE_PARAMS_v1 *what, CUcontext context), (what, context))
SETS(graph_set_node_set_params, cuGraphMemsetNodeSetParams_v10000, of_set,
     (const CUDA_MEMSET_NODE_PARAMS_v1 *what))
CHANGES(graph_exec_set_node_set_params, cuGraphExecMemsetNodeSetParams_v10020, of_set,
        (const CUDA_MEMSET_NODE_PARAMS_v1 *what, CUcontext context), (what, context))
CHANGES(graph_exec_child_graph_node_set_params, cuGraphExecChildGraphNodeSetParams_v11010, of_child,
        (CUgraph what), (what))
ADDS(graph_add_mem_alloc_node, cuGraphAddMemAllocNode_v11040, of_birth,
     (CUDA_MEM_ALLOC_NODE_PARAMS_v1 * what), (what))
ADDS(graph_add_mem_free_node, cuGraphAddMemFreeNode_v11040, of_death, (CUdeviceptr_v2 what), (what))
ADDS(graph_add_memop_node, cuGraphAddBatchMemOpNode_v11070, of_memops,
     (const CUDA_BATCH_MEM_OP_NODE_PARAMS *what), (what))
SETS(graph_memop_node_set_params, cuGraphBatchMemOpNodeSetParams_v11070, of_memops,
     (const CUDA_BATCH_MEM_OP_NODE_PARAMS *what))
CHANGES(graph_exec_memop_node_set_params, cuGraphExecBatchMemOpNodeSetParams_v11070, of_memops,
        (const CUDA_BATCH_MEM_OP_NODE_PARAMS *what), (what))
ADDS(graph_add_signal_node, cuGraphAddExternalSemaphoresSignalNode_v11020, of_signal,
     (const CUDA_EXT_SEM_SIGNAL_NODE_PARAMS_v1 *what), (what))
SETS(graph_signal_node_set_params, cuGraphExternalSemaphoresSignalNodeSetParams_v11020, of_signal,
     (const CUDA_EXT_SEM_SIGNAL_NODE_PARAMS_v1 *what))
CHANGES(graph_exec_signal_node_set_params, cuGraphExecExternalSemaphoresSignalNodeSetParams_v11020,
        of_signal, (const CUDA_EXT_SEM_SIGNAL_NODE_PARAMS_v1 *what), (what))
ADDS(graph_add_wait_node, cuGraphAddExternalSemaphoresWaitNode_v11020, of_semaphore_wait,
     (const CUDA_EXT_SEM_WAIT_NODE_PARAMS_v1 *what), (what))
SETS(graph_wait_node_set_params, cuGraphExternalSemaphoresWaitNodeSetParams_v11020,
     of_semaphore_wait, (const CUDA_EXT_SEM_WAIT_NODE_PARAMS_v1 *what))
CHANGES(graph_exec_wait_node_set_params, cuGraphExecExternalSemaphoresWaitNodeSetParams_v11020,
        of_semaphore_wait, (const CUDA_EXT_SEM_WAIT_NODE_PARAMS_v1 *what), (what))
CHANGES(graph_exec_event_record_node_set_event, cuGraphExecEventRecordNodeSetEvent_v11010,
        of_record, (CUevent what), (what))
CHANGES(graph_exec_event_wait_node_set_event, cuGraphExecEventWaitNodeSetEvent_v11010, of_wait,
        (CUevent what), (what))

CUresult hook_graph_add_child_graph_node(const struct driver_entry *entry, CUgraphNode *node,
                                         CUgraph graph, const CUgraphNode *dependencies,
                                         size_t count, CUgraph child)
{
    MAKE_AND_NOTE(DRIVER_REAL(entry, cuGraphAddChildGraphNode_v10000)(node, graph, dependencies,
                                                                      count, child),
                  note_child(*node, child));
}

CUresult hook_graph_node_set_enabled(const struct driver_entry *entry, CUgraphExec exec,
                                     CUgraphNode node, unsigned int enabled)
{
    MAKE_AND_NOTE(DRIVER_REAL(entry, cuGraphNodeSetEnabled_v11060)(exec, node, enabled),
                  graph_node_enabled(exec, node, enabled != 0));
}

/* ---- Host nodes: the driver is given csan's node in place of the function ---- */

/* As MAKE_AND_NOTE, for hooks that enter the guard themselves: what is to run is wrapped where csan
 * cannot note it, too. */
#define WRAP_AND_NOTE(call, note)                                                                  \
    if (!guard_enter())                                                                            \
        return call;                                                                               \
    CUresult result = call;                                                                        \
    if (result == CUDA_SUCCESS)                                                                    \
        note;                                                                                      \
    guard_leave();                                                                                 \
    return result

CUresult hook_graph_add_host_node(const struct driver_entry *entry, CUgraphNode *phGraphNode,
                                  CUgraph hGraph, const CUgraphNode *dependencies,
                                  size_t numDependencies,
                                  const CUDA_HOST_NODE_PARAMS_v1 *nodeParams)
{
    PFN_cuGraphAddHostNode_v10000 real = DRIVER_REAL(entry, cuGraphAddHostNode_v10000);
    CUDA_HOST_NODE_PARAMS_v1 own;
    if (!nodeParams || !session_start())
        return real(phGraphNode, hGraph, dependencies, numDependencies, nodeParams);
    own = *nodeParams;
    host_node_wrap(&own.fn, &own.userData);
    WRAP_AND_NOTE(real(phGraphNode, hGraph, dependencies, numDependencies, &own),
                  note(*phGraphNode, of_host(&own)));
}

CUresult hook_graph_host_node_get_params(const struct driver_entry *entry, CUgraphNode hNode,
                                         CUDA_HOST_NODE_PARAMS_v1 *nodeParams)
{
    CUresult result = DRIVER_REAL(entry, cuGraphHostNodeGetParams_v10000)(hNode, nodeParams);
    if (result == CUDA_SUCCESS)
        host_node_unwrap(&nodeParams->fn, &nodeParams->userData);
    return result;
}

CUresult hook_graph_host_node_set_params(const struct driver_entry *entry, CUgraphNode hNode,
                                         const CUDA_HOST_NODE_PARAMS_v1 *nodeParams)
{
    PFN_cuGraphHostNodeSetParams_v10000 real = DRIVER_REAL(entry, cuGraphHostNodeSetParams_v10000);
    CUDA_HOST_NODE_PARAMS_v1 own;
    if (!nodeParams || !session_start())
        return real(hNode, nodeParams);
    own = *nodeParams;
    host_node_wrap(&own.fn, &own.userData);
    WRAP_AND_NOTE(real(hNode, &own), note(hNode, of_host(&own)));
}

CUresult hook_graph_exec_host_node_set_params(const struct driver_entry *entry,
                                              CUgraphExec hGraphExec, CUgraphNode hNode,
                                              const CUDA_HOST_NODE_PARAMS_v1 *nodeParams)
{
    PFN_cuGraphExecHostNodeSetParams_v10020 real =
        DRIVER_REAL(entry, cuGraphExecHostNodeSetParams_v10020);
    CUDA_HOST_NODE_PARAMS_v1 own;
    if (!nodeParams || !session_start())
        return real(hGraphExec, hNode, nodeParams);
    own = *nodeParams;
    host_node_wrap(&own.fn, &own.userData);
    WRAP_AND_NOTE(real(hGraphExec, hNode, &own), note_in_exec(hGraphExec, hNode, of_host(&own)));
}

/* ---- Nodes of any kind -------------------------------------------------------------------------
 */

/* The parameters as the driver is to have them. */
static CUgraphNodeParams *wrap(const CUgraphNodeParams *given, CUgraphNodeParams *own)
{
    *own = *given;
    if (given->type == CU_GRAPH_NODE_TYPE_HOST)
        host_node_wrap(&own->host.fn, &own->host.userData);
    return own;
}

/* After it was added: the driver's results go back to the program, with the program's own function.
 */
static void unwrap(CUgraphNodeParams *given, const CUgraphNodeParams *own)
{
    *given = *own;
    if (own->type == CU_GRAPH_NODE_TYPE_HOST)
        host_node_unwrap(&given->host.fn, &given->host.userData);
}

/* `child`: the graph that was given, of a child graph node. */
static void note_any(CUgraphNode node, const CUgraphNodeParams *params, CUgraph child)
{
    if (params->type == CU_GRAPH_NODE_TYPE_GRAPH)
        note_child(node, child);
    else if (params->type == CU_GRAPH_NODE_TYPE_CONDITIONAL)
        graph_bodies_note(node, params);
    else
        note(node, *params);
}

CUresult hook_graph_add_node_v1(const struct driver_entry *entry, CUgraphNode *phGraphNode,
                                CUgraph hGraph, const CUgraphNode *dependencies,
                                size_t numDependencies, CUgraphNodeParams *nodeParams)
{
    PFN_cuGraphAddNode_v12020 real = DRIVER_REAL(entry, cuGraphAddNode_v12020);
    CUgraphNodeParams own;
    if (!nodeParams || !session_start())
        return real(phGraphNode, hGraph, dependencies, numDependencies, nodeParams);
    CUgraph child = nodeParams->graph.graph;
    wrap(nodeParams, &own);
    WRAP_AND_NOTE(real(phGraphNode, hGraph, dependencies, numDependencies, &own), {
        note_any(*phGraphNode, &own, child);
        unwrap(nodeParams, &own);
    });
}

/* Of CUDA 12.3 and of 13.4, which checks the node's context besides: one signature. */
static CUresult add_node(PFN_cuGraphAddNode_v12030 real, CUgraphNode *phGraphNode, CUgraph hGraph,
                         const CUgraphNode *dependencies, const CUgraphEdgeData *dependencyData,
                         size_t numDependencies, CUgraphNodeParams *nodeParams)
{
    CUgraphNodeParams own;
    if (!nodeParams || !session_start())
        return real(phGraphNode, hGraph, dependencies, dependencyData, numDependencies, nodeParams);
    CUgraph child = nodeParams->graph.graph;
    wrap(nodeParams, &own);
    WRAP_AND_NOTE(real(phGraphNode, hGraph, dependencies, dependencyData, numDependencies, &own), {
        note_any(*phGraphNode, &own, child);
        unwrap(nodeParams, &own);
    });
}

CUresult hook_graph_add_node(const struct driver_entry *entry, CUgraphNode *phGraphNode,
                             CUgraph hGraph, const CUgraphNode *dependencies,
                             const CUgraphEdgeData *dependencyData, size_t numDependencies,
                             CUgraphNodeParams *nodeParams)
{
    return add_node(DRIVER_REAL(entry, cuGraphAddNode_v12030), phGraphNode, hGraph, dependencies,
                    dependencyData, numDependencies, nodeParams);
}

CUresult hook_graph_add_node_v3(const struct driver_entry *entry, CUgraphNode *phGraphNode,
                                CUgraph hGraph, const CUgraphNode *dependencies,
                                const CUgraphEdgeData *dependencyData, size_t numDependencies,
                                CUgraphNodeParams *nodeParams)
{
    return add_node(DRIVER_REAL(entry, cuGraphAddNode_v13040), phGraphNode, hGraph, dependencies,
                    dependencyData, numDependencies, nodeParams);
}

static CUresult set_node(PFN_cuGraphNodeSetParams_v12020 real, CUgraphNode hNode,
                         CUgraphNodeParams *nodeParams)
{
    CUgraphNodeParams own;
    if (!nodeParams || !session_start())
        return real(hNode, nodeParams);
    wrap(nodeParams, &own);
    WRAP_AND_NOTE(real(hNode, &own), note_any(hNode, &own, own.graph.graph));
}

CUresult hook_graph_node_set_params(const struct driver_entry *entry, CUgraphNode hNode,
                                    CUgraphNodeParams *nodeParams)
{
    return set_node(DRIVER_REAL(entry, cuGraphNodeSetParams_v12020), hNode, nodeParams);
}

CUresult hook_graph_node_set_params_v2(const struct driver_entry *entry, CUgraphNode hNode,
                                       CUgraphNodeParams *nodeParams)
{
    return set_node(DRIVER_REAL(entry, cuGraphNodeSetParams_v13040), hNode, nodeParams);
}

CUresult hook_graph_node_get_params(const struct driver_entry *entry, CUgraphNode hNode,
                                    CUgraphNodeParams *nodeParams)
{
    CUresult result = DRIVER_REAL(entry, cuGraphNodeGetParams_v13020)(hNode, nodeParams);
    if (result == CUDA_SUCCESS && nodeParams && nodeParams->type == CU_GRAPH_NODE_TYPE_HOST)
        host_node_unwrap(&nodeParams->host.fn, &nodeParams->host.userData);
    return result;
}

CUresult hook_graph_exec_node_set_params(const struct driver_entry *entry, CUgraphExec hGraphExec,
                                         CUgraphNode hNode, CUgraphNodeParams *nodeParams)
{
    PFN_cuGraphExecNodeSetParams_v12020 real = DRIVER_REAL(entry, cuGraphExecNodeSetParams_v12020);
    CUgraphNodeParams own;
    if (!nodeParams || !session_start())
        return real(hGraphExec, hNode, nodeParams);
    wrap(nodeParams, &own);
    if (!guard_enter())
        return real(hGraphExec, hNode, &own);
    struct graph_code code = graph_code_begin_node(&own);
    CUresult result = changed(&code, real(hGraphExec, hNode, &own), hGraphExec, hNode, &own);
    guard_leave();
    return result;
}

/* ---- Graphs as a whole -------------------------------------------------------------------------
 */

CUresult hook_graph_clone(const struct driver_entry *entry, CUgraph *phGraphClone,
                          CUgraph originalGraph)
{
    MAKE_AND_NOTE(DRIVER_REAL(entry, cuGraphClone_v10000)(phGraphClone, originalGraph),
                  graph_topology_copy_notes(originalGraph, *phGraphClone));
}

/* A child graph goes with its node; its nodes' notes are written over when their handles are used
 * again. */
CUresult hook_graph_destroy_node(const struct driver_entry *entry, CUgraphNode hNode)
{
    graph_node_destroyed(hNode);
    CUresult result = DRIVER_REAL(entry, cuGraphDestroyNode_v10000)(hNode);
    if (result == CUDA_SUCCESS) {
        graph_bodies_forget(hNode);
        graph_node_forget(hNode);
    }
    return result;
}

CUresult hook_graph_destroy(const struct driver_entry *entry, CUgraph hGraph)
{
    struct graph_topology shape;
    bool read = graph_topology_read(hGraph, &shape);
    CUresult result =
        graph_destroyed(hGraph) ? CUDA_SUCCESS : DRIVER_REAL(entry, cuGraphDestroy_v10000)(hGraph);
    if (read && result == CUDA_SUCCESS)
        graph_topology_forget(&shape);
    graph_topology_free(&shape);
    return result;
}
