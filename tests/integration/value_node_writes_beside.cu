// link: -lcuda
// ways: run run-static
// verdict: race
// The node that writes the word has no edge from the kernel: it may write before.
#include "value_graph.h"

int main()
{
    int *p = device_array<int>();
    cudaStream_t a = nonblocking_stream(), b = nonblocking_stream();
    CUdeviceptr word = words();
    cudaGraph_t graph = graph_create();
    fill_node(graph, nullptr, 0, p);
    memop_node(graph, nullptr, 0, writes(word));
    CHECK(cudaGraphLaunch(instantiate(graph), a));
    DRIVER_CHECK(cuStreamWaitValue32(b, word, 1, CU_STREAM_WAIT_VALUE_GEQ));
    launch_increment(b, p);
    return finish();
}
