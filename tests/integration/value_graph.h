// Memory operations as nodes of graphs.
#pragma once

#include "graph.h"
#include "value.h"

static inline CUcontext current_context()
{
    CUcontext context;
    DRIVER_CHECK(cuCtxGetCurrent(&context));
    return context;
}

// A node's parameters, which refer to the operation.
static inline CUDA_BATCH_MEM_OP_NODE_PARAMS params_of(CUstreamBatchMemOpParams *operation)
{
    CUDA_BATCH_MEM_OP_NODE_PARAMS params = {};
    params.ctx = current_context();
    params.count = 1;
    params.paramArray = operation;
    return params;
}

static inline CUstreamBatchMemOpParams writes(CUdeviceptr word, cuuint32_t value = 1)
{
    CUstreamBatchMemOpParams operation = {};
    operation.writeValue.operation = CU_STREAM_MEM_OP_WRITE_VALUE_32;
    operation.writeValue.address = word;
    operation.writeValue.value = value;
    return operation;
}

static inline CUstreamBatchMemOpParams waits(CUdeviceptr word, cuuint32_t value = 1)
{
    CUstreamBatchMemOpParams operation = {};
    operation.waitValue.operation = CU_STREAM_MEM_OP_WAIT_VALUE_32;
    operation.waitValue.address = word;
    operation.waitValue.value = value;
    operation.waitValue.flags = CU_STREAM_WAIT_VALUE_GEQ;
    return operation;
}

static inline cudaGraphNode_t memop_node(cudaGraph_t graph, const cudaGraphNode_t *after,
                                         size_t count, CUstreamBatchMemOpParams operation)
{
    CUDA_BATCH_MEM_OP_NODE_PARAMS params = params_of(&operation);
    CUgraphNode node;
    DRIVER_CHECK(cuGraphAddBatchMemOpNode(&node, graph, after, count, &params));
    return node;
}

// Sets the word to 0 in each launch.
static inline cudaGraphNode_t clear_node(cudaGraph_t graph, CUdeviceptr word)
{
    cudaMemsetParams params = {};
    cudaGraphNode_t node;
    params.dst = (void *)word;
    params.elementSize = 4;
    params.width = params.height = 1;
    CHECK(cudaGraphAddMemsetNode(&node, graph, nullptr, 0, &params));
    return node;
}
