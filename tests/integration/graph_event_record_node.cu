// verdict: none
// Who waits for an event that a node records comes after that node's own branch; the graph's other
// nodes still run beside it.
#include "graph.h"

int main()
{
    int *p = device_array<int>(), *q = device_array<int>();
    cudaEvent_t half = event_create();
    cudaGraph_t graph = graph_create();
    cudaGraphNode_t first = fill_node(graph, nullptr, 0, p), record;
    CHECK(cudaGraphAddEventRecordNode(&record, graph, &first, 1, half));
    fill_node(graph, &record, 1, q);
    cudaStream_t a = nonblocking_stream(), b = nonblocking_stream();
    CHECK(cudaGraphLaunch(instantiate(graph), a));
    CHECK(cudaStreamWaitEvent(b, half, 0));
    launch_increment(b, p);
    return finish();
}
