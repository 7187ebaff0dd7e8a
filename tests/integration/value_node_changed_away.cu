// link: -lcuda
// ways: run run-static
// verdict: race
// The executable graph's node no longer writes the word that is waited for; another stream does.
#include "value_graph.h"

int main()
{
    int *p = device_array<int>();
    cudaStream_t a = nonblocking_stream(), b = nonblocking_stream();
    CUdeviceptr word = words();
    cudaGraph_t graph = graph_create();
    cudaGraphNode_t filled = fill_node(graph, nullptr, 0, p);
    cudaStream_t c = nonblocking_stream();
    cudaGraphNode_t node = memop_node(graph, &filled, 1, writes(word));
    cudaGraphExec_t exec = instantiate(graph);
    CUstreamBatchMemOpParams other = writes(word + 8);
    CUDA_BATCH_MEM_OP_NODE_PARAMS params = params_of(&other);
    DRIVER_CHECK(cuGraphExecBatchMemOpNodeSetParams(exec, node, &params));
    CHECK(cudaGraphLaunch(exec, a));
    DRIVER_CHECK(cuStreamWaitValue32(b, word, 1, CU_STREAM_WAIT_VALUE_GEQ));
    launch_increment(b, p);
    DRIVER_CHECK(cuStreamWriteValue32(c, word, 1, 0));
    return finish();
}
