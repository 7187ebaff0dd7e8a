/* The structure of a graph as the driver reports it, with child graphs laid out in it: entries in
 * an order that the edges allow, each with the earlier entries that it waits for. Two graphs of one
 * shape, such as a clone and its original, have equal entries in the same places. */
#ifndef RUNTIME_HOOK_GRAPH_GRAPH_TOPOLOGY_H
#define RUNTIME_HOOK_GRAPH_GRAPH_TOPOLOGY_H

#include "runtime/hook/observe/trace_source.h"

struct callsite_stack;
struct learning_node;
struct graph_node_work;

struct graph_topology_entry {
    CUgraphNode node;
    CUgraphNodeType type; /* CU_GRAPH_NODE_TYPE_EMPTY for a node that only makes order */
    CUevent event;        /* of an event node */
    struct trace_code
        code;   /* a kernel's, once it was asked for; without a function it is not known */
    bool alone; /* the only entry with that kernel, at the time when somebody found that out */
    bool disabled;
    bool conditional; /* in the body of a conditional node: it may run never, or often */
    struct graph_node_work *work; /* or NULL */
    uint32_t *dependencies;
    size_t dependency_count;
};

/* The launch by which csan goes on to learn from its kernel; NULL: none. */
struct learning_node *graph_topology_entry_learning(const struct graph_topology_entry *entry);

struct graph_topology {
    struct graph_topology_entry *entries;
    size_t count, capacity;
    bool partial;       /* has what csan does not model */
    bool hides_kernels; /* and that may be kernels */
};

/* Asks the driver, without the hooks' lock. False: the graph's structure cannot be read. Free the
 * topology in any case. */
bool graph_topology_read(CUgraph graph, struct graph_topology *shape);
/* Sets each entry's work: the recorded one, else what the driver reports, with that stack. */
void graph_topology_equip(struct graph_topology *shape, const struct callsite_stack *stack);
/* Sets each kernel's code; graph_topology_equip does so, too, if it is needed. */
void graph_topology_ask_code(struct graph_topology *shape);
/* Nodes of memory operations or external semaphores. */
static inline bool graph_topology_is_memop(CUgraphNodeType type)
{
    return type == CU_GRAPH_NODE_TYPE_BATCH_MEM_OP || type == CU_GRAPH_NODE_TYPE_EXT_SEMAS_SIGNAL ||
           type == CU_GRAPH_NODE_TYPE_EXT_SEMAS_WAIT;
}
/* Which entries are alone. */
void graph_topology_find_alone(struct graph_topology *shape);
void graph_topology_free(struct graph_topology *shape);

/* A graph was copied: what is known of a node holds for its copy, too. */
void graph_topology_copy_notes(CUgraph from, CUgraph to);
/* The graph and its child graphs are gone; `shape` was read before. */
void graph_topology_forget(const struct graph_topology *shape);

#endif
