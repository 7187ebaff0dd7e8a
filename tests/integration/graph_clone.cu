// verdict: race
// expect: graph_clone.cu:{node}
// What is known of a node is known of its clone, the stack too; the original may be gone.
#include "graph.h"

int main()
{
    int *p = device_array<int>();
    cudaGraph_t graph = graph_create(), clone;
    fill_node(graph, nullptr, 0, p); // at: node
    CHECK(cudaGraphClone(&clone, graph));
    CHECK(cudaGraphDestroy(graph));
    CHECK(cudaGraphLaunch(instantiate(clone), nonblocking_stream()));
    launch_increment(nonblocking_stream(), p);
    return finish();
}
