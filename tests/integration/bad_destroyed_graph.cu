// verdict: race
// expect: , 1 race,
// expect: bad_destroyed_graph.cu:{last}
// skip: gpu
// Graphs that are none any more: every call with them fails as the driver has it, and does nothing.
// What the graph did while it was one stays done, and its successor, perhaps of the same handle, is
// another graph. (A real driver may crash instead.)
#include "expect.h"
#include "graph.h"

int main()
{
    int *p = device_array<int>(), *q = device_array<int>();
    cudaStream_t a = nonblocking_stream(), b = nonblocking_stream();
    cudaGraph_t clone;
    cudaGraphNode_t node;
    cudaGraphExec_t again;
    begin_capture(a);
    launch_fill(a, p);
    cudaGraph_t graph = end_capture(a);
    cudaGraphExec_t exec = instantiate(graph);
    CHECK(cudaGraphLaunch(exec, a));
    CHECK(cudaGraphExecDestroy(exec));
    CHECK(cudaGraphDestroy(graph));

    EXPECT(cudaGraphLaunch(exec, b), cudaErrorInvalidValue);
    EXPECT(cudaGraphUpload(exec, b), cudaErrorInvalidValue);
    EXPECT(cudaGraphExecDestroy(exec), cudaErrorInvalidValue);
    EXPECT(cudaGraphInstantiate(&again, graph, 0), cudaErrorInvalidValue);
    EXPECT(cudaGraphClone(&clone, graph), cudaErrorInvalidValue);
    EXPECT(cudaGraphAddEmptyNode(&node, graph, nullptr, 0), cudaErrorInvalidValue);
    EXPECT(cudaGraphDestroy(graph), cudaErrorInvalidValue);

    stream_follows(b, a);
    launch_increment(b, p);
    CHECK(cudaDeviceSynchronize());
    begin_capture(a);
    launch_fill(a, q);
    CHECK(cudaGraphLaunch(instantiate(end_capture(a)), a));
    launch_increment(b, p);
    launch_increment(b, q); // at: last
    return finish();
}
