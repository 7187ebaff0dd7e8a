/* Functions of graphs that came after CUDA 13.0. They ask and change nodes of any kind by the
 * functions for one kind. A node of fabric copies is none of this device's. */
#include "runtime/device/driver/graph/graph.h"

#include <string.h>

CUresult CUDAAPI cuGraphAddNode_v3(CUgraphNode *phGraphNode, CUgraph hGraph,
                                   const CUgraphNode *dependencies,
                                   const CUgraphEdgeData *dependencyData, size_t numDependencies,
                                   CUgraphNodeParams *nodeParams)
{
    return cuGraphAddNode_v2(phGraphNode, hGraph, dependencies, dependencyData, numDependencies,
                             nodeParams);
}

CUresult CUDAAPI cuGraphNodeSetParams_v2(CUgraphNode hNode, CUgraphNodeParams *nodeParams)
{
    return cuGraphNodeSetParams(hNode, nodeParams);
}

static CUresult memory_of(CUgraphNode node, CUgraphNodeParams *params)
{
    CUDA_MEM_ALLOC_NODE_PARAMS_v1 memory;
    CUresult result = cuGraphMemAllocNodeGetParams(node, &memory);
    if (result == CUDA_SUCCESS)
        memcpy(&params->alloc, &memory, sizeof memory);
    return result;
}

static CUresult set_of(CUgraphNode node, CUgraphNodeParams *params)
{
    CUDA_MEMSET_NODE_PARAMS_v1 set;
    CUresult result = cuGraphMemsetNodeGetParams(node, &set);
    if (result == CUDA_SUCCESS)
        memcpy(&params->memset, &set, sizeof set);
    return result;
}

static CUresult host_of(CUgraphNode node, CUgraphNodeParams *params)
{
    CUDA_HOST_NODE_PARAMS_v1 host;
    CUresult result = cuGraphHostNodeGetParams(node, &host);
    if (result == CUDA_SUCCESS)
        memcpy(&params->host, &host, sizeof host);
    return result;
}

static CUresult params_of(CUgraphNode node, CUgraphNodeParams *params)
{
    switch (params->type) {
    case CU_GRAPH_NODE_TYPE_KERNEL:
        return cuGraphKernelNodeGetParams_v2(node, (CUDA_KERNEL_NODE_PARAMS_v2 *)&params->kernel);
    case CU_GRAPH_NODE_TYPE_MEMCPY:
        return cuGraphMemcpyNodeGetParams(node, &params->memcpy.copyParams);
    case CU_GRAPH_NODE_TYPE_MEMSET:
        return set_of(node, params);
    case CU_GRAPH_NODE_TYPE_HOST:
        return host_of(node, params);
    case CU_GRAPH_NODE_TYPE_GRAPH:
        return cuGraphChildGraphNodeGetGraph(node, &params->graph.graph);
    case CU_GRAPH_NODE_TYPE_EVENT_RECORD:
        return cuGraphEventRecordNodeGetEvent(node, &params->eventRecord.event);
    case CU_GRAPH_NODE_TYPE_WAIT_EVENT:
        return cuGraphEventWaitNodeGetEvent(node, &params->eventWait.event);
    case CU_GRAPH_NODE_TYPE_BATCH_MEM_OP:
        return cuGraphBatchMemOpNodeGetParams(node,
                                              (CUDA_BATCH_MEM_OP_NODE_PARAMS *)&params->memOp);
    case CU_GRAPH_NODE_TYPE_EXT_SEMAS_SIGNAL:
        return cuGraphExternalSemaphoresSignalNodeGetParams(
            node, (CUDA_EXT_SEM_SIGNAL_NODE_PARAMS_v1 *)&params->extSemSignal);
    case CU_GRAPH_NODE_TYPE_EXT_SEMAS_WAIT:
        return cuGraphExternalSemaphoresWaitNodeGetParams(
            node, (CUDA_EXT_SEM_WAIT_NODE_PARAMS_v1 *)&params->extSemWait);
    case CU_GRAPH_NODE_TYPE_MEM_ALLOC:
        return memory_of(node, params);
    case CU_GRAPH_NODE_TYPE_MEM_FREE:
        return cuGraphMemFreeNodeGetParams(node, &params->free.dptr);
    case CU_GRAPH_NODE_TYPE_EMPTY:
        return CUDA_SUCCESS;
    default:
        return device_lacks("cuGraphNodeGetParams of such a node");
    }
}

CUresult CUDAAPI cuGraphNodeGetParams(CUgraphNode hNode, CUgraphNodeParams *nodeParams)
{
    CUgraphNodeParams params = {0};
    if (!nodeParams)
        return CUDA_ERROR_INVALID_VALUE;
    CUresult result = cuGraphNodeGetType(hNode, &params.type);
    if (result == CUDA_SUCCESS)
        result = params_of(hNode, &params);
    if (result == CUDA_SUCCESS)
        *nodeParams = params;
    return result;
}
