// link: -lcuda
// ways: run run-static
// verdict: none
// A node writes the word behind the kernel of its graph; a stream waits for it.
#include "value_graph.h"

int main()
{
    int *p = device_array<int>();
    cudaStream_t a = nonblocking_stream(), b = nonblocking_stream();
    CUdeviceptr word = words();
    cudaGraph_t graph = graph_create();
    cudaGraphNode_t filled = fill_node(graph, nullptr, 0, p);
    memop_node(graph, &filled, 1, writes(word));
    CHECK(cudaGraphLaunch(instantiate(graph), a));
    DRIVER_CHECK(cuStreamWaitValue32(b, word, 1, CU_STREAM_WAIT_VALUE_GEQ));
    launch_increment(b, p);
    return finish();
}
