// A graph of two copies, into an array and out of it.
#pragma once

#include "texture_kinds.h"

enum { GRAPH_WIDTH = 16, GRAPH_HEIGHT = 8 };

static inline cudaMemcpy3DParms graph_copy(cudaArray_t array, void *memory, bool into)
{
    cudaMemcpy3DParms p = {};
    cudaPitchedPtr rows =
        make_cudaPitchedPtr(memory, GRAPH_WIDTH * sizeof(int), GRAPH_WIDTH, GRAPH_HEIGHT);
    (into ? p.srcPtr : p.dstPtr) = rows;
    (into ? p.dstArray : p.srcArray) = array;
    p.extent = make_cudaExtent(GRAPH_WIDTH, GRAPH_HEIGHT, 1);
    p.kind = into ? cudaMemcpyHostToDevice : cudaMemcpyDeviceToHost;
    return p;
}

static inline int run_graph(bool ordered)
{
    int *from, *to;
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    cudaGraphNode_t first, second;
    const size_t bytes = GRAPH_WIDTH * GRAPH_HEIGHT * sizeof(int);
    CHECK(cudaMallocHost((void **)&from, bytes));
    CHECK(cudaMallocHost((void **)&to, bytes));
    for (int i = 0; i < GRAPH_WIDTH * GRAPH_HEIGHT; i++)
        from[i] = i * i;
    cudaArray_t array =
        make_array(cudaCreateChannelDesc<int>(), make_cudaExtent(GRAPH_WIDTH, GRAPH_HEIGHT, 0));
    cudaMemcpy3DParms in = graph_copy(array, from, true), out = graph_copy(array, to, false), asked;
    CHECK(cudaGraphCreate(&graph, 0));
    CHECK(cudaGraphAddMemcpyNode(&first, graph, nullptr, 0, &in));
    CHECK(cudaGraphAddMemcpyNode(&second, graph, &first, ordered, &out));
    CHECK(cudaGraphMemcpyNodeGetParams(first, &asked));
    if (asked.dstArray != array || asked.extent.width != GRAPH_WIDTH) {
        fprintf(stderr, "the node's array is another\n");
        exit(101);
    }
    CHECK(cudaGraphInstantiate(&exec, graph, 0));
    cudaStream_t stream = nonblocking_stream();
    CHECK(cudaGraphLaunch(exec, stream));
    CHECK(cudaStreamSynchronize(stream));
    for (int i = 0; ordered && i < GRAPH_WIDTH * GRAPH_HEIGHT; i++)
        demand("copied", i, to[i], i * i);
    return finish();
}
