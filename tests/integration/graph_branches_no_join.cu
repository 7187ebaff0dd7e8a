// verdict: race
// expect: graph_branches_no_join.cu:{fill}
// expect: graph_branches_no_join.cu:{increment}
// expect: branch [0-9]+ of a graph
// Two branches of one graph, captured in two streams, touch the same memory: no path orders them.
// It is found when the graph is instantiated; nothing is launched.
#include "graph.h"

int main()
{
    int *p = device_array<int>();
    cudaStream_t a = nonblocking_stream(), b = nonblocking_stream();
    begin_capture(a);
    stream_follows(b, a);
    launch_fill(a, p);      // at: fill
    launch_increment(b, p); // at: increment
    stream_follows(a, b);
    instantiate(end_capture(a));
    return finish();
}
