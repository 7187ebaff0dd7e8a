/* Conditional nodes of graphs: if and else, while, switch (CUDA C++ Programming Guide, "Conditional
 * Graph Nodes"). Each body is a graph of the node's. In an executable graph it is an executable
 * graph itself, which the node's item launches as often as the condition says. Kernels set
 * conditions by handle. With the device's lock held. */
#ifndef RUNTIME_DEVICE_DRIVER_GRAPH_GRAPH_CONDITIONAL_H
#define RUNTIME_DEVICE_DRIVER_GRAPH_GRAPH_CONDITIONAL_H

#include "runtime/device/driver/graph/graph.h"

struct conditional {
    uint64_t handle;
    CUgraphConditionalNodeType type;
    unsigned size;
    struct CUgraph_st **bodies;    /* `size` of them; the node's own until `execs` is set */
    struct CUgraphExec_st **execs; /* in an executable graph: they own the bodies; else NULL */
};

/* For a new node: its bodies are empty graphs, which *params receives. */
CUresult conditional_of_params(CUDA_CONDITIONAL_NODE_PARAMS *params, struct CUgraphNode_st *node);
/* The node's copy gets copies of the bodies. False: memory is short. */
bool conditional_copy(struct CUgraphNode_st *to, const struct CUgraphNode_st *from, bool of_exec);
void conditional_free(struct conditional *conditional);
/* The node is of an executable graph: its bodies become executable. False: no plan for them. */
bool conditional_prepare(struct CUgraphNode_st *node, struct CUctx_st *context);
/* One run of the node; NULL: memory is short. */
struct item *conditional_item(const struct CUgraphNode_st *node);

/* An item that gives a graph's conditions their values of the start, as of the graph that was
 * instantiated. NULL with *needed: memory is short; NULL without: it has none. */
struct item *conditional_defaults(const struct CUgraph_st *graph, bool *needed);
/* exec_memory.set_condition */
void conditional_set(void *user, uint64_t handle, uint32_t value);

#endif
