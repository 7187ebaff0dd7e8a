// verdict: race
// expect: graph
// A graph's nodes: one copies into an array from the host, another copies out of it, and no edge
// orders them.
#include "array_graph.h"

int main()
{
    return run_graph(false);
}
