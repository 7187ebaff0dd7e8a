/* The order that memory operations make inside one graph: a node that waits for a word comes after
 * the node of the graph that writes it. Whether the word holds the value already when the graph is
 * launched is not known before. The launch itself is followed exactly (stream_memop.h). So this may
 * order too much, never too little. */
#ifndef RUNTIME_HOOK_GRAPH_GRAPH_MEMOP_EDGES_H
#define RUNTIME_HOOK_GRAPH_GRAPH_MEMOP_EDGES_H

#include "runtime/hook/graph/graph_topology.h"

enum graph_memop_edges {
    GRAPH_MEMOP_EDGES_NONE,    /* nothing waits for a word that the graph writes */
    GRAPH_MEMOP_EDGES_ADDED,   /* `ordered` has them */
    GRAPH_MEMOP_EDGES_TOO_MANY /* or memory is short */
};

/* Copies the shape with these edges, in an order that all edges allow. The copy refers to the
 * works of the shape, which must live longer; free it with graph_memop_edges_free if it was made.
 */
enum graph_memop_edges graph_memop_edges_add(const struct graph_topology *shape,
                                             struct graph_topology *ordered);
void graph_memop_edges_free(struct graph_topology *ordered);

#endif
