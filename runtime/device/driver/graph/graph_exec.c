/* Executable graphs: how they come and go. graph_plan.c, graph_update.c and graph_launch.c have the
 * rest. */
#include "runtime/device/driver/graph/graph_conditional.h"

#include <stdlib.h>
#include <string.h>

static struct {
    struct CUgraphExec_st *execs;
} all;

/* ---- Life ------------------------------------------------------------------------------------ */

static void exec_free(struct CUgraphExec_st *exec)
{
    struct CUgraphExec_st **link = &all.execs;
    while (*link && *link != exec)
        link = &(*link)->next;
    if (*link)
        *link = exec->next;
    /* Launches under way have all they need in their items. */
    for (size_t i = 0; exec->context && i < exec->branch_count; i++)
        stream_abandon(exec->branches[i]);
    if (exec->context && exec->gate)
        stream_abandon(exec->gate);
    struct CUgraph_st *source = object_find(exec->source, OBJECT_GRAPH);
    if (source && source->execs)
        source->execs--;
    graph_plan_free(exec->plan, exec->count);
    if (exec->graph)
        graph_destroy(exec->graph);
    mark_release(exec->last);
    free(exec->branches);
    free(exec);
}

void graph_forget_context(struct CUctx_st *context)
{
    for (struct CUgraphExec_st *exec = all.execs; exec; exec = exec->next)
        if (exec->context == context) {
            exec->context = NULL;
            exec->branch_count = 0;
        }
    for (struct CUstream_st *stream = context->streams; stream; stream = stream->next)
        capture_leave(stream);
}

struct CUgraphExec_st *graph_body_create(struct CUctx_st *context, struct CUgraph_st *graph)
{
    struct CUgraphExec_st *body = calloc(1, sizeof *body);
    if (!body)
        return NULL;
    body->references = 1;
    body->context = context;
    body->graph = graph;
    body->next = all.execs;
    all.execs = body;
    body->gate = stream_create_branch(context);
    if (body->gate && graph_plan_make(body) == CUDA_SUCCESS)
        return body;
    body->graph = NULL; /* the node's still */
    exec_free(body);
    return NULL;
}

struct CUgraphExec_st *graph_body_retain(struct CUgraphExec_st *body)
{
    body->references++;
    return body;
}

void graph_body_release(struct CUgraphExec_st *body)
{
    if (--body->references == 0)
        exec_free(body);
}

static CUresult exec_create(struct CUctx_st *context, struct CUgraph_st *graph, uint64_t flags,
                            struct CUgraphExec_st **made)
{
    struct CUgraphExec_st *exec = calloc(1, sizeof *exec);
    if (!exec)
        return CUDA_ERROR_OUT_OF_MEMORY;
    exec->context = context;
    exec->flags = flags;
    exec->graph = graph_clone(graph, true);
    CUresult result = exec->graph ? graph_plan_make(exec) : CUDA_ERROR_OUT_OF_MEMORY;
    if (result != CUDA_SUCCESS) {
        exec_free(exec);
        return result;
    }
    exec->source = graph;
    graph->execs++;
    exec->next = all.execs;
    all.execs = exec;
    object_add(&exec->object, OBJECT_EXEC);
    *made = exec;
    return CUDA_SUCCESS;
}

static CUresult instantiate(CUgraphExec *made, CUgraph handle, uint64_t flags)
{
    const uint64_t known = CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH |
                           CUDA_GRAPH_INSTANTIATE_FLAG_UPLOAD |
                           CUDA_GRAPH_INSTANTIATE_FLAG_USE_NODE_PRIORITY;
    struct CUctx_st *context;
    CUresult result = device_enter_context(&context);
    if (result != CUDA_SUCCESS)
        return result;
    struct CUgraph_st *graph = object_find(handle, OBJECT_GRAPH);
    if (flags & CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH)
        return device_leave(device_lacks("a graph that is launched from the device"));
    if (!made || !graph || graph->of_exec || graph->capturing || flags & ~known)
        return device_leave(CUDA_ERROR_INVALID_VALUE);
    /* "there can be at most one executable graph in existence for that graph at a time" */
    if (graph->execs && graph_has_memory(graph))
        return device_leave(CUDA_ERROR_NOT_SUPPORTED);
    *made = NULL;
    return device_leave(exec_create(context, graph, flags, made));
}

CUresult CUDAAPI cuGraphInstantiateWithFlags(CUgraphExec *phGraphExec, CUgraph hGraph,
                                             unsigned long long flags)
{
    return instantiate(phGraphExec, hGraph, flags);
}

CUresult CUDAAPI cuGraphInstantiate_v2(CUgraphExec *phGraphExec, CUgraph hGraph,
                                       CUgraphNode *phErrorNode, char *logBuffer, size_t bufferSize)
{
    if (phErrorNode)
        *phErrorNode = NULL;
    if (logBuffer && bufferSize)
        *logBuffer = '\0';
    return instantiate(phGraphExec, hGraph, 0);
}

CUresult CUDAAPI cuGraphInstantiate(CUgraphExec *phGraphExec, CUgraph hGraph,
                                    CUgraphNode *phErrorNode, char *logBuffer, size_t bufferSize)
{
    return cuGraphInstantiate_v2(phGraphExec, hGraph, phErrorNode, logBuffer, bufferSize);
}

CUresult CUDAAPI cuGraphInstantiateWithParams(CUgraphExec *phGraphExec, CUgraph hGraph,
                                              CUDA_GRAPH_INSTANTIATE_PARAMS *instantiateParams)
{
    if (!instantiateParams)
        return CUDA_ERROR_INVALID_VALUE;
    CUresult result = instantiate(phGraphExec, hGraph, instantiateParams->flags);
    instantiateParams->hErrNode_out = NULL;
    instantiateParams->result_out =
        result == CUDA_SUCCESS ? CUDA_GRAPH_INSTANTIATE_SUCCESS : CUDA_GRAPH_INSTANTIATE_ERROR;
    return result;
}

CUresult CUDAAPI cuGraphInstantiateWithParams_ptsz(CUgraphExec *phGraphExec, CUgraph hGraph,
                                                   CUDA_GRAPH_INSTANTIATE_PARAMS *instantiateParams)
{
    return cuGraphInstantiateWithParams(phGraphExec, hGraph, instantiateParams);
}

CUresult graph_exec_enter(CUgraphExec handle, struct CUctx_st **context,
                          struct CUgraphExec_st **exec)
{
    CUresult result = device_enter_context(context);
    if (result != CUDA_SUCCESS)
        return result;
    *exec = object_find(handle, OBJECT_EXEC);
    return *exec ? CUDA_SUCCESS : device_leave(CUDA_ERROR_INVALID_VALUE);
}

CUresult CUDAAPI cuGraphExecGetFlags(CUgraphExec hGraphExec, cuuint64_t *flags)
{
    struct CUctx_st *context;
    struct CUgraphExec_st *exec;
    CUresult result = graph_exec_enter(hGraphExec, &context, &exec);
    if (result != CUDA_SUCCESS)
        return result;
    if (!flags)
        return device_leave(CUDA_ERROR_INVALID_VALUE);
    /* "Flags will not include CUDA_GRAPH_INSTANTIATE_FLAG_UPLOAD" is not said; what was asked for
     * is given back. */
    *flags = exec->flags;
    return device_leave(CUDA_SUCCESS);
}

CUresult CUDAAPI cuGraphExecDestroy(CUgraphExec hGraphExec)
{
    struct CUctx_st *context;
    CUresult result = device_enter_failed(&context);
    if (result != CUDA_SUCCESS)
        return result;
    struct CUgraphExec_st *exec = object_find(hGraphExec, OBJECT_EXEC);
    if (!exec)
        return device_leave(CUDA_ERROR_INVALID_VALUE);
    object_remove(&exec->object);
    exec_free(exec);
    return device_leave(CUDA_SUCCESS);
}
