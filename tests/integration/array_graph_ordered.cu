// verdict: none
// As array_graph_unordered, with an edge; the bytes come back, and the node describes the array.
#include "array_graph.h"

int main()
{
    return run_graph(true);
}
