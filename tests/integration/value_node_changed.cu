// link: -lcuda
// ways: run run-static
// verdict: none
// The executable graph's node writes another word than the graph's: the one that is waited for.
#include "value_graph.h"

int main()
{
    int *p = device_array<int>();
    cudaStream_t a = nonblocking_stream(), b = nonblocking_stream();
    CUdeviceptr word = words();
    cudaGraph_t graph = graph_create();
    cudaGraphNode_t filled = fill_node(graph, nullptr, 0, p);
    cudaGraphNode_t node = memop_node(graph, &filled, 1, writes(word));
    cudaGraphExec_t exec = instantiate(graph);
    CUstreamBatchMemOpParams other = writes(word + 8);
    CUDA_BATCH_MEM_OP_NODE_PARAMS params = params_of(&other);
    DRIVER_CHECK(cuGraphExecBatchMemOpNodeSetParams(exec, node, &params));
    CHECK(cudaGraphLaunch(exec, a));
    DRIVER_CHECK(cuStreamWaitValue32(b, word + 8, 1, CU_STREAM_WAIT_VALUE_GEQ));
    launch_increment(b, p);
    return finish();
}
