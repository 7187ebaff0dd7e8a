/* Graphs of the fake driver: nodes and edges are kept and given back, launches do nothing. */
#define __CUDA_API_VERSION_INTERNAL
#include <cuda.h>

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define EXPORT __attribute__((visibility("default")))

/* Of fake_cuda.c: what the test wants the next call to return. */
CUresult fake_result(void);
void *fake_handle(void);
void fake_note(char what);
/* Of fake_gpu.c. */
#ifdef FAKE_GPU
int fake_is_patched(CUfunction kernel);
CUresult fake_launching_nodes(const CUfunction *kernels, const CUgraphNode *nodes,
                              const int *larger, size_t count);
#else
static int fake_is_patched(CUfunction kernel)
{
    (void)kernel;
    return 0;
}
static CUresult fake_launching_nodes(const CUfunction *kernels, const CUgraphNode *nodes,
                                     const int *larger, size_t count)
{
    (void)kernels, (void)nodes, (void)larger, (void)count;
    return CUDA_SUCCESS;
}
#endif

struct CUgraphNode_st {
    CUgraphNodeType type;
    CUevent event;
    CUDA_HOST_NODE_PARAMS host;
    CUfunction kernel;
    CUDA_BATCH_MEM_OP_NODE_PARAMS memops;
    CUDA_EXT_SEM_SIGNAL_NODE_PARAMS signal;
    CUDA_EXT_SEM_WAIT_NODE_PARAMS wait;
    bool disabled; /* in all execs: tests have one */
};

struct CUgraph_st {
    CUgraph next;
    CUgraphNode *nodes;
    size_t count;
    CUgraphNode *from, *to;
    size_t edges;
    size_t hosts, kernels; /* nodes: a launch of a graph without costs the driver nothing */
    bool gone;
};

/* Host functions of the newest exec run at its launch. The nodes that the tools interface reports
 * are the graph's as long as that is there, then its own. */
struct CUgraphExec_st {
    CUgraphExec next;
    CUgraph first, graph; /* it keeps the handles of the first one's nodes */
    int *larger;          /* of each node's kernel: its code was patched when it was put in */
};

/* Nothing is freed: handles stay distinct, and a test may go on using what it destroyed. */
static struct {
    CUgraph graphs;
    CUgraphExec execs;
} kept;

EXPORT CUresult cuGraphCreate(CUgraph *graph, unsigned flags)
{
    CUresult code = fake_result();
    (void)flags;
    if (code != CUDA_SUCCESS)
        return code;
    *graph = calloc(1, sizeof **graph);
    (*graph)->next = __atomic_exchange_n(&kept.graphs, *graph, __ATOMIC_ACQ_REL);
    return code;
}

static CUgraphNode add(CUgraph graph, CUgraphNodeType type, const CUgraphNode *after, size_t count)
{
    CUgraphNode node = calloc(1, sizeof *node);
    node->type = type;
    graph->nodes = realloc(graph->nodes, (graph->count + 1) * sizeof(CUgraphNode));
    graph->nodes[graph->count++] = node;
    graph->from = realloc(graph->from, (graph->edges + count + 1) * sizeof(CUgraphNode));
    graph->to = realloc(graph->to, (graph->edges + count + 1) * sizeof(CUgraphNode));
    for (size_t i = 0; i < count; i++) {
        graph->from[graph->edges] = after[i];
        graph->to[graph->edges++] = node;
    }
    return node;
}

EXPORT CUresult cuGraphAddMemsetNode(CUgraphNode *node, CUgraph graph, const CUgraphNode *after,
                                     size_t count, const CUDA_MEMSET_NODE_PARAMS *params,
                                     CUcontext context)
{
    CUresult code = fake_result();
    (void)params, (void)context;
    if (code == CUDA_SUCCESS)
        *node = add(graph, CU_GRAPH_NODE_TYPE_MEMSET, after, count);
    return code;
}

EXPORT CUresult cuGraphAddKernelNode_v2(CUgraphNode *node, CUgraph graph, const CUgraphNode *after,
                                        size_t count, const CUDA_KERNEL_NODE_PARAMS_v2 *params)
{
    CUresult code = fake_result();
    if (code != CUDA_SUCCESS)
        return code;
    *node = add(graph, CU_GRAPH_NODE_TYPE_KERNEL, after, count);
    (*node)->kernel = params->func;
    graph->kernels++;
    return code;
}

/* Of any kind; what conditional nodes run is not kept. */
EXPORT CUresult cuGraphAddNode_v2(CUgraphNode *node, CUgraph graph, const CUgraphNode *after,
                                  const CUgraphEdgeData *data, size_t count,
                                  CUgraphNodeParams *params)
{
    CUresult code = fake_result();
    (void)data;
    if (code == CUDA_SUCCESS)
        *node = add(graph, params->type, after, count);
    return code;
}

/* What memory operations do is kept for who asks; an exec's are its graph's. */
#define MEMOPS(node_type, add_name, get_name, exec_name, params_type, member)                      \
    EXPORT CUresult add_name(CUgraphNode *node, CUgraph graph, const CUgraphNode *after,           \
                             size_t count, const params_type *params)                              \
    {                                                                                              \
        CUresult code = fake_result();                                                             \
        if (code != CUDA_SUCCESS)                                                                  \
            return code;                                                                           \
        *node = add(graph, node_type, after, count);                                               \
        (*node)->member = *params;                                                                 \
        return code;                                                                               \
    }                                                                                              \
    EXPORT CUresult get_name(CUgraphNode node, params_type *params)                                \
    {                                                                                              \
        *params = node->member;                                                                    \
        return CUDA_SUCCESS;                                                                       \
    }                                                                                              \
    EXPORT CUresult exec_name(CUgraphExec exec, CUgraphNode node, const params_type *params)       \
    {                                                                                              \
        (void)exec, (void)node, (void)params;                                                      \
        return fake_result();                                                                      \
    }

MEMOPS(CU_GRAPH_NODE_TYPE_BATCH_MEM_OP, cuGraphAddBatchMemOpNode, cuGraphBatchMemOpNodeGetParams,
       cuGraphExecBatchMemOpNodeSetParams, CUDA_BATCH_MEM_OP_NODE_PARAMS, memops)
MEMOPS(CU_GRAPH_NODE_TYPE_EXT_SEMAS_SIGNAL, cuGraphAddExternalSemaphoresSignalNode,
       cuGraphExternalSemaphoresSignalNodeGetParams,
       cuGraphExecExternalSemaphoresSignalNodeSetParams, CUDA_EXT_SEM_SIGNAL_NODE_PARAMS, signal)
MEMOPS(CU_GRAPH_NODE_TYPE_EXT_SEMAS_WAIT, cuGraphAddExternalSemaphoresWaitNode,
       cuGraphExternalSemaphoresWaitNodeGetParams, cuGraphExecExternalSemaphoresWaitNodeSetParams,
       CUDA_EXT_SEM_WAIT_NODE_PARAMS, wait)

EXPORT CUresult cuGraphKernelNodeGetParams_v2(CUgraphNode node, CUDA_KERNEL_NODE_PARAMS_v2 *params)
{
    *params = (CUDA_KERNEL_NODE_PARAMS_v2){.func = node->kernel};
    return CUDA_SUCCESS;
}

EXPORT CUresult cuGraphExecKernelNodeSetParams_v2(CUgraphExec exec, CUgraphNode node,
                                                  const CUDA_KERNEL_NODE_PARAMS_v2 *params)
{
    CUresult code = fake_result();
    for (size_t i = 0; code == CUDA_SUCCESS && i < exec->graph->count; i++)
        if (exec->first->nodes[i] == node) {
            exec->graph->nodes[i]->kernel = params->func;
            exec->larger[i] = fake_is_patched(params->func);
        }
    return code;
}

EXPORT CUresult cuGraphAddEventRecordNode(CUgraphNode *node, CUgraph graph,
                                          const CUgraphNode *after, size_t count, CUevent event)
{
    *node = add(graph, CU_GRAPH_NODE_TYPE_EVENT_RECORD, after, count);
    (*node)->event = event;
    return CUDA_SUCCESS;
}

EXPORT CUresult cuGraphAddEventWaitNode(CUgraphNode *node, CUgraph graph, const CUgraphNode *after,
                                        size_t count, CUevent event)
{
    *node = add(graph, CU_GRAPH_NODE_TYPE_WAIT_EVENT, after, count);
    (*node)->event = event;
    return CUDA_SUCCESS;
}

EXPORT CUresult cuGraphEventRecordNodeGetEvent(CUgraphNode node, CUevent *event)
{
    *event = node->event;
    return CUDA_SUCCESS;
}

EXPORT CUresult cuGraphEventWaitNodeGetEvent(CUgraphNode node, CUevent *event)
{
    *event = node->event;
    return CUDA_SUCCESS;
}

EXPORT CUresult cuGraphAddHostNode(CUgraphNode *node, CUgraph graph, const CUgraphNode *after,
                                   size_t count, const CUDA_HOST_NODE_PARAMS *params)
{
    CUresult code = fake_result();
    if (code != CUDA_SUCCESS)
        return code;
    *node = add(graph, CU_GRAPH_NODE_TYPE_HOST, after, count);
    (*node)->host = *params;
    graph->hosts++;
    return code;
}

EXPORT CUresult cuGraphHostNodeGetParams(CUgraphNode node, CUDA_HOST_NODE_PARAMS *params)
{
    *params = node->host;
    return CUDA_SUCCESS;
}

EXPORT CUresult cuGraphExecMemsetNodeSetParams(CUgraphExec exec, CUgraphNode node,
                                               const CUDA_MEMSET_NODE_PARAMS *params,
                                               CUcontext context)
{
    (void)exec, (void)node, (void)params, (void)context;
    return fake_result();
}

EXPORT CUresult cuGraphNodeSetEnabled(CUgraphExec exec, CUgraphNode node, unsigned enabled)
{
    CUresult code = fake_result();
    (void)exec;
    if (code == CUDA_SUCCESS)
        node->disabled = !enabled;
    return code;
}

EXPORT CUresult cuGraphGetNodes(CUgraph graph, CUgraphNode *nodes, size_t *count)
{
    if (nodes)
        memcpy(nodes, graph->nodes, graph->count * sizeof(CUgraphNode));
    *count = graph->count;
    return CUDA_SUCCESS;
}

EXPORT CUresult cuGraphGetEdges_v2(CUgraph graph, CUgraphNode *from, CUgraphNode *to,
                                   CUgraphEdgeData *data, size_t *count)
{
    if (from && to) {
        memcpy(from, graph->from, graph->edges * sizeof(CUgraphNode));
        memcpy(to, graph->to, graph->edges * sizeof(CUgraphNode));
    }
    if (data)
        memset(data, 0, graph->edges * sizeof *data);
    *count = graph->edges;
    return CUDA_SUCCESS;
}

EXPORT CUresult cuGraphNodeGetType(CUgraphNode node, CUgraphNodeType *type)
{
    *type = node->type;
    return CUDA_SUCCESS;
}

/* The handle may be one that the test wants to be used again. */
EXPORT CUresult cuGraphInstantiateWithFlags(CUgraphExec *exec, CUgraph graph,
                                            unsigned long long flags)
{
    CUresult code = fake_result();
    (void)flags;
    if (code != CUDA_SUCCESS)
        return code;
    CUgraphExec reused = fake_handle();
    *exec = reused ? reused : calloc(1, sizeof **exec);
    if (!reused) {
        (*exec)->next = __atomic_exchange_n(&kept.execs, *exec, __ATOMIC_ACQ_REL);
    }
    (*exec)->first = (*exec)->graph = graph;
    if (reused)
        free(reused->larger);
    (*exec)->larger = calloc(graph->count + 1, sizeof(int));
    for (size_t i = 0; i < graph->count; i++)
        (*exec)->larger[i] = fake_is_patched(graph->nodes[i]->kernel);
    return code;
}

EXPORT CUresult cuGraphExecUpdate_v2(CUgraphExec exec, CUgraph graph,
                                     CUgraphExecUpdateResultInfo *info)
{
    CUresult code = fake_result();
    (void)info;
    for (size_t i = 0; code == CUDA_SUCCESS && i < graph->count; i++)
        if (graph->nodes[i]->kernel != exec->graph->nodes[i]->kernel)
            exec->larger[i] = fake_is_patched(graph->nodes[i]->kernel);
    if (code == CUDA_SUCCESS)
        exec->graph = graph;
    return code;
}

static CUresult kernels_launch(CUgraphExec exec)
{
    const size_t room = exec->graph->count + 1;
    CUfunction *kernels = calloc(room, sizeof *kernels);
    CUgraphNode *nodes = calloc(room, sizeof(CUgraphNode));
    int *larger = calloc(room, sizeof *larger);
    size_t count = 0;
    for (size_t i = 0; i < exec->graph->count; i++) {
        if (exec->graph->nodes[i]->type != CU_GRAPH_NODE_TYPE_KERNEL)
            continue;
        kernels[count] = exec->graph->nodes[i]->kernel;
        larger[count] = exec->larger[i];
        nodes[count++] = exec->first->gone ? (CUgraphNode)&exec->larger[i] : exec->first->nodes[i];
    }
    CUresult code = fake_launching_nodes(kernels, nodes, larger, count);
    free(kernels);
    free(nodes);
    free(larger);
    return code;
}

static void note_launch(const struct CUgraph_st *graph)
{
    fake_note('[');
    for (size_t i = 0; i < graph->count && i < 10; i++)
        if (!graph->nodes[i]->disabled)
            fake_note((char)('0' + i));
    fake_note(']');
}

EXPORT CUresult cuGraphLaunch(CUgraphExec exec, CUstream stream)
{
    CUresult code = fake_result();
    (void)stream;
    if (exec && code == CUDA_SUCCESS)
        note_launch(exec->graph);
    bool runs = exec && code == CUDA_SUCCESS && (exec->graph->hosts || exec->graph->kernels);
    for (size_t i = 0; runs && i < exec->graph->count; i++)
        if (exec->graph->nodes[i]->type == CU_GRAPH_NODE_TYPE_HOST)
            exec->graph->nodes[i]->host.fn(exec->graph->nodes[i]->host.userData);
    return runs && exec->graph->kernels ? kernels_launch(exec) : code;
}

EXPORT CUresult cuGraphExecDestroy(CUgraphExec exec)
{
    (void)exec;
    return fake_result();
}

EXPORT CUresult cuGraphDestroy(CUgraph graph)
{
    CUresult code = fake_result();
    fake_note('d');
    graph->gone |= code == CUDA_SUCCESS;
    return code;
}
