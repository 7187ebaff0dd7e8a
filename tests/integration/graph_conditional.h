// Conditional nodes of graphs: kernels that set conditions, and nodes with bodies.
#pragma once

#include "program.h"

__global__ void set_if_left(cudaGraphConditionalHandle handle, int *left)
{
    cudaGraphSetConditional(handle, --*left > 0);
}

__global__ void set_to(cudaGraphConditionalHandle handle, const int *value)
{
    cudaGraphSetConditional(handle, *value);
}

__global__ void add_to(int *p, int n, int value)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        p[i] += value;
}

static inline cudaGraphNode_t add_kernel(cudaGraph_t graph, void *kernel, void **arguments,
                                         cudaGraphNode_t after = nullptr, int blocks = 1,
                                         int threads = 1)
{
    cudaKernelNodeParams params = {};
    cudaGraphNode_t node;
    params.func = kernel;
    params.gridDim = blocks;
    params.blockDim = threads;
    params.kernelParams = arguments;
    CHECK(cudaGraphAddKernelNode(&node, graph, after ? &after : nullptr, after ? 1 : 0, &params));
    return node;
}

static inline cudaGraphNode_t add_conditional(cudaGraph_t graph, cudaGraphNode_t after,
                                              cudaGraphConditionalHandle handle,
                                              cudaGraphConditionalNodeType type,
                                              cudaGraph_t *bodies, unsigned size = 1)
{
    cudaGraphNodeParams params = {};
    cudaGraphNode_t node;
    params.type = cudaGraphNodeTypeConditional;
    params.conditional.handle = handle;
    params.conditional.type = type;
    params.conditional.size = size;
    CHECK(
        cudaGraphAddNode(&node, graph, after ? &after : nullptr, nullptr, after ? 1 : 0, &params));
    for (unsigned i = 0; i < size; i++)
        bodies[i] = params.conditional.phGraph_out[i];
    return node;
}
