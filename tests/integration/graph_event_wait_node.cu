// verdict: none
// Nodes behind a node that waits for an event come after what the event was recorded after.
#include "graph.h"

int main()
{
    int *p = device_array<int>(), *q = device_array<int>();
    cudaEvent_t ready = event_create();
    cudaGraph_t graph = graph_create();
    cudaGraphNode_t wait;
    fill_node(graph, nullptr, 0, q);
    CHECK(cudaGraphAddEventWaitNode(&wait, graph, nullptr, 0, ready));
    increment_node(graph, &wait, 1, p);
    cudaGraphExec_t exec = instantiate(graph);
    cudaStream_t a = nonblocking_stream(), b = nonblocking_stream();
    launch_fill(b, p);
    CHECK(cudaEventRecord(ready, b));
    CHECK(cudaGraphLaunch(exec, a));
    return finish();
}
