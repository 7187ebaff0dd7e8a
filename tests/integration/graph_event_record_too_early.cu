// verdict: race
// expect: graph_event_record_too_early.cu:{later}
// An event that a node records does not carry what comes behind the node.
#include "graph.h"

int main()
{
    int *p = device_array<int>(), *q = device_array<int>();
    cudaEvent_t half = event_create();
    cudaGraph_t graph = graph_create();
    cudaGraphNode_t first = fill_node(graph, nullptr, 0, p), record;
    CHECK(cudaGraphAddEventRecordNode(&record, graph, &first, 1, half));
    fill_node(graph, &record, 1, q); // at: later
    cudaStream_t a = nonblocking_stream(), b = nonblocking_stream();
    CHECK(cudaGraphLaunch(instantiate(graph), a));
    CHECK(cudaStreamWaitEvent(b, half, 0));
    launch_increment(b, q);
    return finish();
}
