/* What csan knows of the nodes of graphs: which memory each touches, and where in the program it
 * was made. An entry is made when a node is captured or added, or its parameters change. It is read
 * when a graph is instantiated. An entry never changes: new parameters are new work.
 *
 * Owns the table from node handles to work. The structure of a graph is not kept: the driver is
 * asked for it (graph_topology.h). */
#ifndef RUNTIME_HOOK_GRAPH_GRAPH_NODE_ACCESSES_H
#define RUNTIME_HOOK_GRAPH_GRAPH_NODE_ACCESSES_H

#include <csan/csan.h>
#include "runtime/hook/observe/trace_source.h"
#include "runtime/hook/operator/operator_work.h"

struct callsite_stack;
struct graph_calls;
struct host_node;
struct learning_node;
struct memop;
struct wrong_pointers;

enum graph_node_kind {
    GRAPH_NODE_OP,    /* touches memory: kernels, copies, sets */
    GRAPH_NODE_BIRTH, /* allocates [base, base + bytes) */
    GRAPH_NODE_DEATH, /* frees what starts at base */
    GRAPH_NODE_HOST,  /* calls a function of the program's */
    GRAPH_NODE_MEMOPS /* writes words and waits for them, or signals semaphores (stream_memop.h) */
};

/* The node, its clones and the executable graphs made of them share it. */
struct graph_node_work {
    unsigned references;
    uint8_t kind; /* enum graph_node_kind */
    struct operator_part part;
    csan_site site;
    enum csan_level level;
    uint64_t base, bytes;
    struct host_node *host;
    struct memop *memops; /* of a node of memory operations */
    size_t memop_count;
    struct learning_node *learning; /* shared; NULL: nothing more can be learned of it */
    struct wrong_pointers *wrong;   /* NULL: its pointers are right */
    struct graph_calls *calls;      /* that order processes; shared; NULL: none */
    struct graph_node_work
        *otherwise; /* the work that applies if what was learned proves wrong; or NULL */
    size_t count;
    struct csan_access accesses[]; /* their dims lie behind them */
};

/* All four return NULL when memory is short. Accesses and operations are copied. */
struct graph_node_work *graph_node_work_op(csan_site site, enum csan_level level,
                                           const struct csan_access *accesses, size_t count);
struct graph_node_work *graph_node_work_memory(enum graph_node_kind kind, csan_site site,
                                               uint64_t base, uint64_t bytes);
struct graph_node_work *graph_node_work_host(csan_site site, struct host_node *host);
struct graph_node_work *graph_node_work_memops(csan_site site, const struct memop *memops,
                                               size_t count);
struct graph_node_work *graph_node_work_retain(struct graph_node_work *work);
/* The same work, but whether it is done is not known. Takes `work`, which may be NULL. */
struct graph_node_work *graph_node_work_maybe(struct graph_node_work *work);
void graph_node_work_release(struct graph_node_work *work); /* NULL is none */
/* The same accesses. */
bool graph_node_work_touches_equal(const struct graph_node_work *a,
                                   const struct graph_node_work *b);
/* Whether both do the same at the same site, and are learned from the same launch. */
bool graph_node_work_equal(const struct graph_node_work *a, const struct graph_node_work *b);

/* From now on the node does this. Takes `work`; NULL: it is not known. */
void graph_node_note(CUgraphNode node, struct graph_node_work *work);
void graph_node_forget(CUgraphNode node);
/* Right after it was noted: csan learns what the node does. Takes `learning`. */
void graph_node_learning(CUgraphNode node, struct learning_node *learning);
/* The same of pointers that may be wrong. Takes `wrong`. */
void graph_node_wrong(CUgraphNode node, struct wrong_pointers *wrong);
/* The same of its calls that order processes. Takes `calls`. */
void graph_node_calls(CUgraphNode node, struct graph_calls *calls);
/* What it does, retained; NULL: not known. */
struct graph_node_work *graph_node_find(CUgraphNode node);

/* What a node without an entry does, according to the driver. NULL: nothing that touches memory, or
 * not known. `stack`: of the site. Without locks, since it asks the driver. */
struct graph_node_work *graph_node_ask(CUgraphNode node, CUgraphNodeType type,
                                       const struct callsite_stack *stack);

/* The kernel of a node with these parameters, or with those that the driver reports. It does not
 * say whether a trace is wanted. Without a function it is no kernel's node, or not known. */
struct trace_code graph_node_code(const CUgraphNodeParams *params);
struct trace_code graph_node_ask_code(CUgraphNode node);

/* Whether the driver says of a kernel's node that its blocks wait for each other (cooperative), or
 * are in clusters. Its parameters do not say that. */
bool graph_node_is_of_groups(CUgraphNode node);

/* What a node with these parameters would do; NULL as above. Host functions are not looked at. */
struct graph_node_work *graph_node_of_params(const CUgraphNodeParams *params,
                                             const struct callsite_stack *stack);

#endif
