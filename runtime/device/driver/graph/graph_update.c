/* An executable graph takes over what another graph does, if that has its form (CUDA Driver API,
 * cuGraphExecUpdate). */
#include "runtime/device/driver/graph/graph_conditional.h"

static CUgraphExecUpdateResult compare(struct CUgraph_st *old, struct CUgraph_st *new,
                                       CUgraphExecUpdateResultInfo *info);

/* "Handle, type and size must be the same" (cuGraphExecUpdate). */
static CUgraphExecUpdateResult compare_bodies(const struct conditional *old,
                                              const struct conditional *new,
                                              CUgraphExecUpdateResultInfo *info)
{
    if (old->handle != new->handle || old->type != new->type || old->size != new->size)
        return CU_GRAPH_EXEC_UPDATE_ERROR_PARAMETERS_CHANGED;
    for (unsigned i = 0; i < old->size; i++) {
        CUgraphExecUpdateResult result = compare(old->bodies[i], new->bodies[i], info);
        if (result != CU_GRAPH_EXEC_UPDATE_SUCCESS)
            return result;
    }
    return CU_GRAPH_EXEC_UPDATE_SUCCESS;
}

/* Pairs the nodes of both in the order of their creation. Reports the first difference. */
static CUgraphExecUpdateResult compare(struct CUgraph_st *old, struct CUgraph_st *new,
                                       CUgraphExecUpdateResultInfo *info)
{
    if (old->count != new->count)
        return CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED;
    size_t place = 0;
    struct CUgraphNode_st *a = old->first, *b = new->first;
    for (; a; a = a->next, b = b->next)
        a->place = b->place = place++;
    for (a = old->first, b = new->first; a; a = a->next, b = b->next) {
        info->errorNode = b;
        if (a->type != b->type)
            return CU_GRAPH_EXEC_UPDATE_ERROR_NODE_TYPE_CHANGED;
        if (a->dependencies.count != b->dependencies.count)
            return CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED;
        for (size_t i = 0; i < a->dependencies.count; i++) {
            info->errorFromNode = b->dependencies.nodes[i];
            if (a->dependencies.nodes[i]->place != b->dependencies.nodes[i]->place)
                return CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED;
        }
        info->errorFromNode = NULL;
        if (a->type == CU_GRAPH_NODE_TYPE_MEM_ALLOC || a->type == CU_GRAPH_NODE_TYPE_MEM_FREE)
            return CU_GRAPH_EXEC_UPDATE_ERROR_NOT_SUPPORTED;
        CUgraphExecUpdateResult inner =
            a->child ? compare(a->child, b->child, info) : CU_GRAPH_EXEC_UPDATE_SUCCESS;
        if (inner != CU_GRAPH_EXEC_UPDATE_SUCCESS)
            return inner;
        inner = a->conditional ? compare_bodies(a->conditional, b->conditional, info)
                               : CU_GRAPH_EXEC_UPDATE_SUCCESS;
        if (inner != CU_GRAPH_EXEC_UPDATE_SUCCESS)
            return inner;
    }
    info->errorNode = NULL;
    return CU_GRAPH_EXEC_UPDATE_SUCCESS;
}

/* The program goes on naming the exec's nodes by those it was instantiated from. */
static void keep_names(struct CUgraph_st *new, const struct CUgraph_st *old)
{
    struct CUgraphNode_st *b = new->first;
    for (const struct CUgraphNode_st *a = old->first; a; a = a->next, b = b->next) {
        b->original = a->original;
        b->disabled = a->disabled;
        if (a->child)
            keep_names(b->child, a->child);
        for (unsigned i = 0; a->conditional && i < a->conditional->size; i++)
            keep_names(b->conditional->bodies[i], a->conditional->bodies[i]);
    }
}

static CUresult update(struct CUgraphExec_st *exec, struct CUgraph_st *graph,
                       CUgraphExecUpdateResultInfo *info)
{
    info->result = compare(exec->graph, graph, info);
    if (info->result != CU_GRAPH_EXEC_UPDATE_SUCCESS)
        return CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE;
    struct CUgraph_st *old = exec->graph, *new = graph_clone(graph, true);
    if (!new)
        return CUDA_ERROR_OUT_OF_MEMORY;
    keep_names(new, old);
    exec->graph = new;
    CUresult result = graph_plan_make(exec);
    if (result != CUDA_SUCCESS) {
        exec->graph = old;
        graph_destroy(new);
        return result;
    }
    graph_destroy(old);
    return CUDA_SUCCESS;
}

CUresult CUDAAPI cuGraphExecUpdate_v2(CUgraphExec hGraphExec, CUgraph hGraph,
                                      CUgraphExecUpdateResultInfo *resultInfo)
{
    struct CUctx_st *context;
    struct CUgraphExec_st *exec;
    CUresult result = graph_exec_enter(hGraphExec, &context, &exec);
    if (result != CUDA_SUCCESS)
        return result;
    CUgraphExecUpdateResultInfo info = {.result = CU_GRAPH_EXEC_UPDATE_ERROR};
    struct CUgraph_st *graph = object_find(hGraph, OBJECT_GRAPH);
    if (!resultInfo || !graph || graph->of_exec || graph->capturing || !exec->context)
        result = CUDA_ERROR_INVALID_VALUE;
    else
        result = update(exec, graph, &info);
    if (resultInfo)
        *resultInfo = info;
    return device_leave(result);
}

CUresult CUDAAPI cuGraphExecUpdate(CUgraphExec hGraphExec, CUgraph hGraph,
                                   CUgraphNode *hErrorNode_out,
                                   CUgraphExecUpdateResult *updateResult_out)
{
    CUgraphExecUpdateResultInfo info = {0};
    CUresult result = cuGraphExecUpdate_v2(hGraphExec, hGraph, &info);
    if (hErrorNode_out)
        *hErrorNode_out = info.errorNode;
    if (updateResult_out)
        *updateResult_out = info.result;
    return result;
}
