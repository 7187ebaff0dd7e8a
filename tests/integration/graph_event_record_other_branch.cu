// verdict: race
// expect: graph_event_record_other_branch.cu:{beside}
// Nor does it carry another branch of the graph.
#include "graph.h"

int main()
{
    int *p = device_array<int>(), *q = device_array<int>();
    cudaEvent_t half = event_create();
    cudaGraph_t graph = graph_create();
    cudaGraphNode_t first = fill_node(graph, nullptr, 0, p), record;
    fill_node(graph, nullptr, 0, q); // at: beside
    CHECK(cudaGraphAddEventRecordNode(&record, graph, &first, 1, half));
    cudaStream_t a = nonblocking_stream(), b = nonblocking_stream();
    CHECK(cudaGraphLaunch(instantiate(graph), a));
    CHECK(cudaStreamWaitEvent(b, half, 0));
    launch_increment(b, q);
    return finish();
}
