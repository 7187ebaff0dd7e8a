/* Option launch_blocking for graphs; see failure/blocking.h.
 *
 * A graph is launched node by node: all nodes of the executable graph but one are disabled at a
 * time (cuGraphNodeSetEnabled), in an order that its edges allow. So each node runs with the
 * executable graph's parameters. That needs the node handles of the graph that it was made from, so
 * graph.c keeps that graph as long. Graphs with nodes of other kinds than kernels, copies, sets and
 * empty ones are launched as a whole, and waited for. */
#ifndef RUNTIME_HOOK_GRAPH_GRAPH_BLOCKING_H
#define RUNTIME_HOOK_GRAPH_GRAPH_BLOCKING_H

#include <csan/csan.h>
#include "runtime/hook/graph/graph_topology.h"

/* One launch of a graph. */
struct graph_blocking {
    bool waits; /* for the whole of it */
    struct graph_blocking_step {
        CUgraphNode node;
        csan_site site; /* of its work; 0: none */
        bool waits;
    } * steps; /* NULL: it is launched as a whole */
    size_t count;
    csan_site failed; /* the node after which a wait returned an error; 0: none */
};

/* Whether such a graph is launched node by node. */
bool graph_blocking_has_steps(const struct graph_topology *shape);
/* How the graph is to be launched. `named`: its nodes' handles are valid. With the hooks' lock. */
void graph_blocking_begin(struct graph_blocking *graph, const struct graph_topology *shape,
                          bool named);
/* The same for a graph of which nothing is known. */
void graph_blocking_begin_unknown(struct graph_blocking *graph);
/* Launches it, and waits. `launched`: the result of the launch itself. Within a hook, without
 * locks. */
CUresult graph_blocking_launch(struct graph_blocking *graph, const struct driver_entry *entry,
                               CUgraphExec exec, CUstream stream, CUresult *launched);
void graph_blocking_end(struct graph_blocking *graph);

#endif
