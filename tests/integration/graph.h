// What the programs with graphs share: capturing, instantiating, nodes by hand.
#pragma once

#include "program.h"

static inline void begin_capture(cudaStream_t stream)
{
    CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
}

static inline cudaGraph_t end_capture(cudaStream_t stream)
{
    cudaGraph_t graph;
    CHECK(cudaStreamEndCapture(stream, &graph));
    return graph;
}

static inline cudaGraphExec_t instantiate(cudaGraph_t graph)
{
    cudaGraphExec_t exec;
    CHECK(cudaGraphInstantiate(&exec, graph, 0));
    return exec;
}

static inline cudaGraph_t graph_create()
{
    cudaGraph_t graph;
    CHECK(cudaGraphCreate(&graph, 0));
    return graph;
}

// `to` waits for all that `from` did so far; under capture that is an edge.
static inline void stream_follows(cudaStream_t to, cudaStream_t from)
{
    cudaEvent_t event = event_create();
    CHECK(cudaEventRecord(event, from));
    CHECK(cudaStreamWaitEvent(to, event, 0));
    CHECK(cudaEventDestroy(event));
}

static inline cudaGraphNode_t fill_node(cudaGraph_t graph, const cudaGraphNode_t *after,
                                        size_t count, int *p, int value = 1)
{
    int n = N;
    void *arguments[] = {&p, &value, &n};
    cudaKernelNodeParams params = {};
    cudaGraphNode_t node;
    params.func = (void *)fill;
    params.gridDim = dim3(GRID);
    params.blockDim = dim3(BLOCK);
    params.kernelParams = arguments;
    CHECK(cudaGraphAddKernelNode(&node, graph, after, count, &params));
    return node;
}

static inline cudaKernelNodeParams increment_params(void **arguments)
{
    cudaKernelNodeParams params = {};
    params.func = (void *)increment;
    params.gridDim = dim3(GRID);
    params.blockDim = dim3(BLOCK);
    params.kernelParams = arguments;
    return params;
}

static inline cudaGraphNode_t increment_node(cudaGraph_t graph, const cudaGraphNode_t *after,
                                             size_t count, int *p)
{
    int n = N;
    void *arguments[] = {&p, &n};
    cudaKernelNodeParams params = increment_params(arguments);
    cudaGraphNode_t node;
    CHECK(cudaGraphAddKernelNode(&node, graph, after, count, &params));
    return node;
}
