// link: -lcuda
// ways: run run-static
// verdict: none
// A whole update brings a graph whose node writes the value that is waited for.
#include "value_graph.h"

int main()
{
    int *p = device_array<int>();
    cudaStream_t a = nonblocking_stream(), b = nonblocking_stream();
    CUdeviceptr word = words();
    cudaGraph_t graph = graph_create();
    cudaGraphNode_t filled = fill_node(graph, nullptr, 0, p);
    memop_node(graph, &filled, 1, writes(word, 1));
    cudaGraph_t second = graph_create();
    cudaGraphNode_t again = fill_node(second, nullptr, 0, p);
    memop_node(second, &again, 1, writes(word, 2));
    cudaGraphExec_t exec = instantiate(graph);
    cudaGraphExecUpdateResultInfo info;
    CHECK(cudaGraphExecUpdate(exec, second, &info));
    CHECK(cudaGraphLaunch(exec, a));
    DRIVER_CHECK(cuStreamWaitValue32(b, word, 2, CU_STREAM_WAIT_VALUE_GEQ));
    launch_increment(b, p);
    return finish();
}
