// verdict: race
// expect: graph_event_wait_other_branch.cu:{beside}
// A node that waits for an event holds up its own branch only.
#include "graph.h"

int main()
{
    int *p = device_array<int>(), *q = device_array<int>();
    cudaEvent_t ready = event_create();
    cudaGraph_t graph = graph_create();
    cudaGraphNode_t wait;
    CHECK(cudaGraphAddEventWaitNode(&wait, graph, nullptr, 0, ready));
    fill_node(graph, &wait, 1, q);
    increment_node(graph, nullptr, 0, p); // at: beside
    cudaGraphExec_t exec = instantiate(graph);
    cudaStream_t a = nonblocking_stream(), b = nonblocking_stream();
    launch_fill(b, p);
    CHECK(cudaEventRecord(ready, b));
    CHECK(cudaGraphLaunch(exec, a));
    return finish();
}
