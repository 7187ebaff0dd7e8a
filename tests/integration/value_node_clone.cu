// link: -lcuda
// ways: run run-static
// verdict: none
// A clone, instantiated after its node writes another value, orders by that value.
#include "value_graph.h"

int main()
{
    int *p = device_array<int>();
    cudaStream_t a = nonblocking_stream(), b = nonblocking_stream();
    CUdeviceptr word = words();
    cudaGraph_t graph = graph_create();
    cudaGraphNode_t filled = fill_node(graph, nullptr, 0, p);
    cudaGraphNode_t node = memop_node(graph, &filled, 1, writes(word, 1));
    CUstreamBatchMemOpParams other = writes(word, 2);
    CUDA_BATCH_MEM_OP_NODE_PARAMS params = params_of(&other);
    DRIVER_CHECK(cuGraphBatchMemOpNodeSetParams(node, &params));
    cudaGraph_t clone;
    CHECK(cudaGraphClone(&clone, graph));
    CHECK(cudaGraphLaunch(instantiate(clone), a));
    DRIVER_CHECK(cuStreamWaitValue32(b, word, 2, CU_STREAM_WAIT_VALUE_GEQ));
    launch_increment(b, p);
    return finish();
}
