/* Executable graphs: what csan knows of them, and what their launches become. */
#ifndef RUNTIME_HOOK_GRAPH_GRAPH_H
#define RUNTIME_HOOK_GRAPH_GRAPH_H

#include "runtime/hook/session/guard.h"
#include "runtime/hook/observe/trace_source.h"

struct graph_node_work;

/* One node of an executable graph does something else from now on; takes `work`. `code`: of a
 * kernel. `named`: the node of the graph that it was instantiated from. */
void graph_node_changed(CUgraphExec exec, CUgraphNode named, struct graph_node_work *work,
                        struct trace_code code);
void graph_event_changed(CUgraphExec exec, CUgraphNode named, CUevent event);
void graph_node_enabled(CUgraphExec exec, CUgraphNode named, bool enabled);
/* The nodes of a child graph in it do what those of another graph of the same topology do. */
void graph_child_changed(CUgraphExec exec, CUgraphNode named, CUgraph child);

/* The program destroys the graph. True: the driver must not, because an executable graph still
 * needs it (blocking.h). */
bool graph_destroyed(CUgraph graph);
/* A node that execs may know by that name. */
void graph_node_destroyed(CUgraphNode node);

/* For the summary. */
struct graph_counts {
    uint64_t launches, graphs, nodes, unknown_kernels, unread;
};
void graph_count(struct graph_counts *counts);

/* The body of a hook of graphs: makes the call, and notes what it achieved. */
#define MAKE_AND_NOTE(call, note)                                                                  \
    CUresult result = call;                                                                        \
    if (result == CUDA_SUCCESS)                                                                    \
        note;                                                                                      \
    return result

/* Called with each node before its op, and with NULL behind the last one of a launch. Then each
 * node is an op of its own. NULL: no calls. Set it before any hook is entered. */
extern void (*graph_on_node)(const void *node);

#endif
