/* A graph as the ops of one launch. The access sets of its nodes are merged, so that a launch costs
 * in proportion to the distinct ranges and not to the nodes. Each range keeps the site of one node
 * that touches it.
 *
 * The nodes of a graph without event, host and memory-operation nodes, and without calls that order
 * processes, are one step. All of it comes
 * after what the launch stream did before, and before what the stream does later. What the nodes do
 * to each other was checked before. Those let other work in between. Then nodes are grouped by
 * which of these they come after and before, one step each, so that an event orders exactly the
 * nodes that it should. */
#ifndef RUNTIME_HOOK_GRAPH_GRAPH_STEPS_H
#define RUNTIME_HOOK_GRAPH_GRAPH_STEPS_H

#include <csan/csan.h>
#include "runtime/hook/failure/progress.h"
#include "runtime/hook/graph/graph_topology.h"

struct host_node;

struct graph_step_op {
    csan_site site;
    enum csan_level level;
    struct csan_access *accesses;
    size_t count;
};

enum graph_step_kind {
    GRAPH_STEP_NODES,
    GRAPH_STEP_RECORD,
    GRAPH_STEP_WAIT,
    GRAPH_STEP_HOST,
    GRAPH_STEP_MEMOPS,
    GRAPH_STEP_LINKS /* a node with calls that order processes */
};
/* Which of its operations. */
enum graph_step_part { GRAPH_STEP_ALL, GRAPH_STEP_WAITS, GRAPH_STEP_WRITES };

struct graph_step {
    uint8_t kind;           /* enum graph_step_kind */
    CUevent event;          /* RECORD and WAIT */
    struct host_node *host; /* HOST; NULL: not csan's to follow */
    /* MEMOPS: what it does, NULL if that is not known; `ops` has its site alone */
    uint8_t part;              /* enum graph_step_part */
    struct graph_calls *calls; /* LINKS; NULL: whether they are made is not known */
    CUgraphNode node;          /* of the graph */
    struct graph_node_work *memops;
    uint32_t *after; /* earlier steps */
    size_t after_count;
    /* NODES: births first, then ops, then deaths */
    struct graph_node_work **births, **deaths;
    size_t birth_count, death_count;
    struct graph_step_op *ops;
    size_t op_count;
    size_t first; /* its place among the sites of all steps */
};

/* The sites of births, ops and deaths, step after step, for one call that launches the graph. */
struct graph_steps_call {
    csan_site site; /* of the call; 0: none */
    csan_site *sites;
};
enum { GRAPH_STEP_CALLS = 4 };

struct graph_steps {
    struct graph_step *steps; /* in an order in which they may be enqueued */
    size_t count;
    size_t nodes, unknown_kernels;
    size_t learning;   /* nodes that csan learns from (graph_learn.h) */
    bool unlinked;     /* nodes have calls that order processes, without steps of their own */
    uint32_t *step_of; /* of each entry of the shape */
    uint64_t identity; /* distinguishes graphs that were captured in different places */
    size_t site_count;
    struct progress progress;  /* where the newest launch stands in its stream */
    csan_site launch;          /* the newest call that launched it; 0: none */
    const csan_site *launched; /* that call's sites (graph_sites.h); NULL: the nodes' own */
    struct graph_steps_call calls[GRAPH_STEP_CALLS]; /* the newest first */
};

/* The works belong to the topology, which must live longer. False: memory is short; free it anyway.
 */
bool graph_steps_make(const struct graph_topology *shape, struct graph_steps *merged);
void graph_steps_free(struct graph_steps *merged);

#endif
