/* The hooks of nodes that are added by hand, of their parameters, and of graphs as a whole: what
 * each node does is noted under its handle (graph_node_accesses.h), with the stack of the call that
 * said so. */
#include "driver_hooks.h"
#include "runtime/hook/state/callsite.h"
#include "runtime/hook/graph/graph.h"
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

/* The body of a hook that changes an exec's node, whose kernels' code it may come to keep. */
#define CHANGE_AND_NOTE(parameters, call)                                                          \
    if (!guard_enter())                                                                            \
        return call;                                                                               \
    const CUgraphNodeParams params = parameters;                                                   \
    struct graph_code code = graph_code_begin_node(&params);                                       \
    CUresult result = call;                                                                        \
    graph_code_end(&code, result);                                                                 \
    if (result == CUDA_SUCCESS)                                                                    \
        note_in_exec(hGraphExec, hNode, params);                                                   \
    guard_leave();                                                                                 \
    return result

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

/* ---- Nodes of one kind -------------------------------------------------------------------------
 */

CUresult hook_graph_add_kernel_node_v1(const struct driver_entry *entry, CUgraphNode *phGraphNode,
                                       CUgraph hGraph, const CUgraphNode *dependencies,
                                       size_t numDependencies,
                                       const CUDA_KERNEL_NODE_PARAMS_v1 *nodeParams)
{
    PFN_cuGraphAddKernelNode_v10000 real = DRIVER_REAL(entry, cuGraphAddKernelNode_v10000);
    MAKE_AND_NOTE(real(phGraphNode, hGraph, dependencies, numDependencies, nodeParams),
                  note(*phGraphNode, of_kernel_v1(nodeParams)));
}

CUresult hook_graph_add_kernel_node(const struct driver_entry *entry, CUgraphNode *phGraphNode,
                                    CUgraph hGraph, const CUgraphNode *dependencies,
                                    size_t numDependencies,
                                    const CUDA_KERNEL_NODE_PARAMS_v2 *nodeParams)
{
    PFN_cuGraphAddKernelNode_v12000 real = DRIVER_REAL(entry, cuGraphAddKernelNode_v12000);
    MAKE_AND_NOTE(real(phGraphNode, hGraph, dependencies, numDependencies, nodeParams),
                  note(*phGraphNode, of_kernel(nodeParams)));
}

CUresult hook_graph_kernel_node_set_params_v1(const struct driver_entry *entry, CUgraphNode hNode,
                                              const CUDA_KERNEL_NODE_PARAMS_v1 *nodeParams)
{
    PFN_cuGraphKernelNodeSetParams_v10000 real =
        DRIVER_REAL(entry, cuGraphKernelNodeSetParams_v10000);
    MAKE_AND_NOTE(real(hNode, nodeParams), note(hNode, of_kernel_v1(nodeParams)));
}

CUresult hook_graph_kernel_node_set_params(const struct driver_entry *entry, CUgraphNode hNode,
                                           const CUDA_KERNEL_NODE_PARAMS_v2 *nodeParams)
{
    PFN_cuGraphKernelNodeSetParams_v12000 real =
        DRIVER_REAL(entry, cuGraphKernelNodeSetParams_v12000);
    MAKE_AND_NOTE(real(hNode, nodeParams), note(hNode, of_kernel(nodeParams)));
}

CUresult hook_graph_exec_kernel_node_set_params_v1(const struct driver_entry *entry,
                                                   CUgraphExec hGraphExec, CUgraphNode hNode,
                                                   const CUDA_KERNEL_NODE_PARAMS_v1 *nodeParams)
{
    PFN_cuGraphExecKernelNodeSetParams_v10010 real =
        DRIVER_REAL(entry, cuGraphExecKernelNodeSetParams_v10010);
    if (!nodeParams)
        return real(hGraphExec, hNode, nodeParams);
    CHANGE_AND_NOTE(of_kernel_v1(nodeParams), real(hGraphExec, hNode, nodeParams));
}

CUresult hook_graph_exec_kernel_node_set_params(const struct driver_entry *entry,
                                                CUgraphExec hGraphExec, CUgraphNode hNode,
                                                const CUDA_KERNEL_NODE_PARAMS_v2 *nodeParams)
{
    PFN_cuGraphExecKernelNodeSetParams_v12000 real =
        DRIVER_REAL(entry, cuGraphExecKernelNodeSetParams_v12000);
    if (!nodeParams)
        return real(hGraphExec, hNode, nodeParams);
    CHANGE_AND_NOTE(of_kernel(nodeParams), real(hGraphExec, hNode, nodeParams));
}

CUresult hook_graph_add_copy_node(const struct driver_entry *entry, CUgraphNode *phGraphNode,
                                  CUgraph hGraph, const CUgraphNode *dependencies,
                                  size_t numDependencies, const CUDA_MEMCPY3D_v2 *copyParams,
                                  CUcontext ctx)
{
    PFN_cuGraphAddMemcpyNode_v10000 real = DRIVER_REAL(entry, cuGraphAddMemcpyNode_v10000);
    MAKE_AND_NOTE(real(phGraphNode, hGraph, dependencies, numDependencies, copyParams, ctx),
                  note(*phGraphNode, of_copy(copyParams)));
}

CUresult hook_graph_copy_node_set_params(const struct driver_entry *entry, CUgraphNode hNode,
                                         const CUDA_MEMCPY3D_v2 *nodeParams)
{
    PFN_cuGraphMemcpyNodeSetParams_v10000 real =
        DRIVER_REAL(entry, cuGraphMemcpyNodeSetParams_v10000);
    MAKE_AND_NOTE(real(hNode, nodeParams), note(hNode, of_copy(nodeParams)));
}

CUresult hook_graph_exec_copy_node_set_params(const struct driver_entry *entry,
                                              CUgraphExec hGraphExec, CUgraphNode hNode,
                                              const CUDA_MEMCPY3D_v2 *copyParams, CUcontext ctx)
{
    PFN_cuGraphExecMemcpyNodeSetParams_v10020 real =
        DRIVER_REAL(entry, cuGraphExecMemcpyNodeSetParams_v10020);
    MAKE_AND_NOTE(real(hGraphExec, hNode, copyParams, ctx),
                  note_in_exec(hGraphExec, hNode, of_copy(copyParams)));
}

CUresult hook_graph_add_set_node(const struct driver_entry *entry, CUgraphNode *phGraphNode,
                                 CUgraph hGraph, const CUgraphNode *dependencies,
                                 size_t numDependencies,
                                 const CUDA_MEMSET_NODE_PARAMS_v1 *memsetParams, CUcontext ctx)
{
    PFN_cuGraphAddMemsetNode_v10000 real = DRIVER_REAL(entry, cuGraphAddMemsetNode_v10000);
    MAKE_AND_NOTE(real(phGraphNode, hGraph, dependencies, numDependencies, memsetParams, ctx),
                  note(*phGraphNode, of_set(memsetParams)));
}

CUresult hook_graph_set_node_set_params(const struct driver_entry *entry, CUgraphNode hNode,
                                        const CUDA_MEMSET_NODE_PARAMS_v1 *nodeParams)
{
    PFN_cuGraphMemsetNodeSetParams_v10000 real =
        DRIVER_REAL(entry, cuGraphMemsetNodeSetParams_v10000);
    MAKE_AND_NOTE(real(hNode, nodeParams), note(hNode, of_set(nodeParams)));
}

CUresult hook_graph_exec_set_node_set_params(const struct driver_entry *entry,
                                             CUgraphExec hGraphExec, CUgraphNode hNode,
                                             const CUDA_MEMSET_NODE_PARAMS_v1 *memsetParams,
                                             CUcontext ctx)
{
    PFN_cuGraphExecMemsetNodeSetParams_v10020 real =
        DRIVER_REAL(entry, cuGraphExecMemsetNodeSetParams_v10020);
    MAKE_AND_NOTE(real(hGraphExec, hNode, memsetParams, ctx),
                  note_in_exec(hGraphExec, hNode, of_set(memsetParams)));
}

/* ---- Host nodes: the driver is given csan's node in place of the function ---- */

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
    MAKE_AND_NOTE(real(phGraphNode, hGraph, dependencies, numDependencies, &own),
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
    MAKE_AND_NOTE(real(hNode, &own), note(hNode, of_host(&own)));
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
    MAKE_AND_NOTE(real(hGraphExec, hNode, &own), note_in_exec(hGraphExec, hNode, of_host(&own)));
}

/* ---- Child graphs, memory, events ---- */

CUresult hook_graph_add_child_graph_node(const struct driver_entry *entry, CUgraphNode *phGraphNode,
                                         CUgraph hGraph, const CUgraphNode *dependencies,
                                         size_t numDependencies, CUgraph childGraph)
{
    PFN_cuGraphAddChildGraphNode_v10000 real = DRIVER_REAL(entry, cuGraphAddChildGraphNode_v10000);
    MAKE_AND_NOTE(real(phGraphNode, hGraph, dependencies, numDependencies, childGraph),
                  note_child(*phGraphNode, childGraph));
}

CUresult hook_graph_exec_child_graph_node_set_params(const struct driver_entry *entry,
                                                     CUgraphExec hGraphExec, CUgraphNode hNode,
                                                     CUgraph childGraph)
{
    PFN_cuGraphExecChildGraphNodeSetParams_v11010 real =
        DRIVER_REAL(entry, cuGraphExecChildGraphNodeSetParams_v11010);
    CHANGE_AND_NOTE(of_child(childGraph), real(hGraphExec, hNode, childGraph));
}

static void note_birth(CUgraphNode node, const CUDA_MEM_ALLOC_NODE_PARAMS_v1 *nodeParams)
{
    CUgraphNodeParams params = {.type = CU_GRAPH_NODE_TYPE_MEM_ALLOC};
    memcpy(&params.alloc, nodeParams, sizeof *nodeParams);
    note(node, params);
}

CUresult hook_graph_add_mem_alloc_node(const struct driver_entry *entry, CUgraphNode *phGraphNode,
                                       CUgraph hGraph, const CUgraphNode *dependencies,
                                       size_t numDependencies,
                                       CUDA_MEM_ALLOC_NODE_PARAMS_v1 *nodeParams)
{
    PFN_cuGraphAddMemAllocNode_v11040 real = DRIVER_REAL(entry, cuGraphAddMemAllocNode_v11040);
    MAKE_AND_NOTE(real(phGraphNode, hGraph, dependencies, numDependencies, nodeParams),
                  note_birth(*phGraphNode, nodeParams));
}

static void note_death(CUgraphNode node, CUdeviceptr_v2 dptr)
{
    CUgraphNodeParams params = {.type = CU_GRAPH_NODE_TYPE_MEM_FREE};
    params.free.dptr = dptr;
    note(node, params);
}

CUresult hook_graph_add_mem_free_node(const struct driver_entry *entry, CUgraphNode *phGraphNode,
                                      CUgraph hGraph, const CUgraphNode *dependencies,
                                      size_t numDependencies, CUdeviceptr_v2 dptr)
{
    PFN_cuGraphAddMemFreeNode_v11040 real = DRIVER_REAL(entry, cuGraphAddMemFreeNode_v11040);
    MAKE_AND_NOTE(real(phGraphNode, hGraph, dependencies, numDependencies, dptr),
                  note_death(*phGraphNode, dptr));
}

CUresult hook_graph_exec_event_record_node_set_event(const struct driver_entry *entry,
                                                     CUgraphExec hGraphExec, CUgraphNode hNode,
                                                     CUevent event)
{
    PFN_cuGraphExecEventRecordNodeSetEvent_v11010 real =
        DRIVER_REAL(entry, cuGraphExecEventRecordNodeSetEvent_v11010);
    MAKE_AND_NOTE(real(hGraphExec, hNode, event), graph_event_changed(hGraphExec, hNode, event));
}

CUresult hook_graph_exec_event_wait_node_set_event(const struct driver_entry *entry,
                                                   CUgraphExec hGraphExec, CUgraphNode hNode,
                                                   CUevent event)
{
    PFN_cuGraphExecEventWaitNodeSetEvent_v11010 real =
        DRIVER_REAL(entry, cuGraphExecEventWaitNodeSetEvent_v11010);
    MAKE_AND_NOTE(real(hGraphExec, hNode, event), graph_event_changed(hGraphExec, hNode, event));
}

CUresult hook_graph_node_set_enabled(const struct driver_entry *entry, CUgraphExec hGraphExec,
                                     CUgraphNode hNode, unsigned int isEnabled)
{
    PFN_cuGraphNodeSetEnabled_v11060 real = DRIVER_REAL(entry, cuGraphNodeSetEnabled_v11060);
    MAKE_AND_NOTE(real(hGraphExec, hNode, isEnabled),
                  graph_node_enabled(hGraphExec, hNode, isEnabled != 0));
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

/* After it was added: what the driver told comes back to the program, its own function too. */
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
    MAKE_AND_NOTE(real(phGraphNode, hGraph, dependencies, numDependencies, &own), {
        note_any(*phGraphNode, &own, child);
        unwrap(nodeParams, &own);
    });
}

CUresult hook_graph_add_node(const struct driver_entry *entry, CUgraphNode *phGraphNode,
                             CUgraph hGraph, const CUgraphNode *dependencies,
                             const CUgraphEdgeData *dependencyData, size_t numDependencies,
                             CUgraphNodeParams *nodeParams)
{
    PFN_cuGraphAddNode_v12030 real = DRIVER_REAL(entry, cuGraphAddNode_v12030);
    CUgraphNodeParams own;
    if (!nodeParams || !session_start())
        return real(phGraphNode, hGraph, dependencies, dependencyData, numDependencies, nodeParams);
    CUgraph child = nodeParams->graph.graph;
    wrap(nodeParams, &own);
    MAKE_AND_NOTE(real(phGraphNode, hGraph, dependencies, dependencyData, numDependencies, &own), {
        note_any(*phGraphNode, &own, child);
        unwrap(nodeParams, &own);
    });
}

CUresult hook_graph_node_set_params(const struct driver_entry *entry, CUgraphNode hNode,
                                    CUgraphNodeParams *nodeParams)
{
    PFN_cuGraphNodeSetParams_v12020 real = DRIVER_REAL(entry, cuGraphNodeSetParams_v12020);
    CUgraphNodeParams own;
    if (!nodeParams || !session_start())
        return real(hNode, nodeParams);
    wrap(nodeParams, &own);
    MAKE_AND_NOTE(real(hNode, &own), note_any(hNode, &own, own.graph.graph));
}

CUresult hook_graph_exec_node_set_params(const struct driver_entry *entry, CUgraphExec hGraphExec,
                                         CUgraphNode hNode, CUgraphNodeParams *nodeParams)
{
    PFN_cuGraphExecNodeSetParams_v12020 real = DRIVER_REAL(entry, cuGraphExecNodeSetParams_v12020);
    CUgraphNodeParams own;
    if (!nodeParams || !session_start())
        return real(hGraphExec, hNode, nodeParams);
    wrap(nodeParams, &own);
    CHANGE_AND_NOTE(own, real(hGraphExec, hNode, &own));
}

/* ---- Graphs as a whole -------------------------------------------------------------------------
 */

CUresult hook_graph_clone(const struct driver_entry *entry, CUgraph *phGraphClone,
                          CUgraph originalGraph)
{
    PFN_cuGraphClone_v10000 real = DRIVER_REAL(entry, cuGraphClone_v10000);
    MAKE_AND_NOTE(real(phGraphClone, originalGraph),
                  graph_topology_copy_notes(originalGraph, *phGraphClone));
}

/* A child graph goes with its node; its nodes' notes are written over when their handles are used
 * again. */
CUresult hook_graph_destroy_node(const struct driver_entry *entry, CUgraphNode hNode)
{
    PFN_cuGraphDestroyNode_v10000 real = DRIVER_REAL(entry, cuGraphDestroyNode_v10000);
    if (!guard_enter())
        return real(hNode);
    graph_node_destroyed(hNode);
    CUresult result = real(hNode);
    if (result == CUDA_SUCCESS)
        graph_node_forget(hNode);
    guard_leave();
    return result;
}

CUresult hook_graph_destroy(const struct driver_entry *entry, CUgraph hGraph)
{
    PFN_cuGraphDestroy_v10000 real = DRIVER_REAL(entry, cuGraphDestroy_v10000);
    struct graph_topology shape;
    if (!guard_enter())
        return real(hGraph);
    bool read = graph_topology_read(hGraph, &shape);
    CUresult result = graph_destroyed(hGraph) ? CUDA_SUCCESS : real(hGraph);
    if (read && result == CUDA_SUCCESS)
        graph_topology_forget(&shape);
    graph_topology_free(&shape);
    guard_leave();
    return result;
}
