/* Option launch_blocking: the host waits after launches, of all kernels or of some, as it does with
 * CUDA_LAUNCH_BLOCKING ("CUDA Environment Variables"), which the driver itself offers for all
 * kernels alone. The wait is csan's and orders nothing: what a run finds without it, it finds with
 * it.
 *
 * A graph is launched node by node: of the executable graph all nodes but one are disabled at a
 * time (cuGraphNodeSetEnabled), in an order that its edges allow. So each runs with the parameters
 * that the executable graph has. That needs the nodes' names, which are those of the graph that it
 * was made of: graph.c keeps that graph for as long. Graphs with nodes of other kinds than kernels,
 * copies, sets and empty ones are launched as a whole, and waited for. */
#ifndef RUNTIME_HOOK_LAUNCH_BLOCKING_H
#define RUNTIME_HOOK_LAUNCH_BLOCKING_H

#include <csan/csan.h>
#include "runtime/hook/interpose/driver.h"
#include "runtime/hook/graph/graph_topology.h"

struct kernel;

/* Whether launches of any kernel are waited for. */
bool blocking_any(void);
/* Whether that kernel's are. */
bool blocking_kernel(const struct kernel *kernel);

/* Until what the stream holds has ended; the stream is not being captured. Within a hook, without
 * locks. Returns what the launch is to return. */
CUresult blocking_wait(CUstream stream, bool thread_default);

/* One launch of a graph. */
struct blocking_graph {
    bool waits; /* for the whole of it */
    struct blocking_step {
        CUgraphNode node;
        csan_site site; /* of its work; 0: none */
        bool waits;
    } * steps; /* NULL: it is launched as a whole */
    size_t count;
    csan_site failed; /* of the node that a wait's error came after; 0: none */
};

/* Whether such a graph is launched node by node. */
bool blocking_graph_has_steps(const struct graph_topology *shape);
/* How the graph is to be launched; `named`: its nodes' names are good. With the guard's lock. */
void blocking_graph_begin(struct blocking_graph *graph, const struct graph_topology *shape,
                          bool named);
/* The same of a graph of which nothing is known. */
void blocking_graph_begin_unknown(struct blocking_graph *graph);
/* Launches it, and waits. `launched`: what the launch itself returned. Within a hook, without
 * locks. */
CUresult blocking_graph_launch(struct blocking_graph *graph, const struct driver_entry *entry,
                               CUgraphExec exec, CUstream stream, CUresult *launched);
void blocking_graph_end(struct blocking_graph *graph);

#endif
