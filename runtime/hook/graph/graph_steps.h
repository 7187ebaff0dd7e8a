/* A graph as one launch of it is told to the detector: its nodes' access sets merged, so that a
 * launch costs in proportion to the distinct ranges and not to the nodes. Each range keeps the site
 * of a node that touches it.
 *
 * The nodes of a graph without event and host nodes are one step: all of it comes after what the
 * launch stream held and before what it is given later, and what its nodes do to each other was
 * checked before. Event and host nodes let others in between: nodes are then grouped by which of
 * them they come after and before, one step each, so that what an event orders is exactly its own
 * nodes. */
#ifndef RUNTIME_HOOK_GRAPH_GRAPH_STEPS_H
#define RUNTIME_HOOK_GRAPH_GRAPH_STEPS_H

#include <csan/csan.h>
#include "runtime/hook/graph/graph_topology.h"

struct host_node;

struct merged_op {
    csan_site site;
    enum csan_level level;
    struct csan_access *accesses;
    size_t count;
};

enum merged_kind { MERGED_NODES, MERGED_RECORD, MERGED_WAIT, MERGED_HOST };

struct merged_step {
    uint8_t kind;           /* enum merged_kind */
    CUevent event;          /* RECORD and WAIT */
    struct host_node *host; /* HOST; NULL: not csan's to follow */
    uint32_t *after;        /* earlier steps */
    size_t after_count;
    /* NODES: births first, then ops, then deaths */
    struct node_work **births, **deaths;
    size_t birth_count, death_count;
    struct merged_op *ops;
    size_t op_count;
    size_t first; /* its place among the sites of all steps */
};

/* The sites of births, ops and deaths, step after step, as launched by a call. */
struct merged_call {
    csan_site site; /* of the call; 0: none */
    csan_site *sites;
};
enum { MERGED_CALLS = 4 };

struct merged {
    struct merged_step *steps; /* in an order that they may be told in */
    size_t count;
    size_t nodes, unknown_kernels;
    size_t learning;   /* nodes that are learned of (graph_learn.h) */
    uint32_t *step_of; /* of each entry of the shape */
    uint64_t identity; /* tells graphs apart that were captured in different places */
    size_t site_count;
    csan_site launch;                       /* the newest call that launched it; 0: none */
    const csan_site *launched;              /* its sites (graph_sites.h); NULL: the nodes' own */
    struct merged_call calls[MERGED_CALLS]; /* the newest first */
};

/* The works stay the shape's, which must outlive it. False: memory is short; to be freed anyway. */
bool merge(const struct shape *shape, struct merged *merged);
void merged_free(struct merged *merged);

#endif
