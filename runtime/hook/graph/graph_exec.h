/* An executable graph, for the files that make, change and launch it. Under the hooks' lock. */
#ifndef RUNTIME_HOOK_GRAPH_GRAPH_EXEC_H
#define RUNTIME_HOOK_GRAPH_GRAPH_EXEC_H

#include "runtime/hook/graph/graph_learn.h"
#include "runtime/hook/graph/graph_steps.h"
#include "runtime/hook/graph/graph_topology.h"

#include <uthash.h>

struct graph_exec {
    CUgraphExec handle;
    CUgraph graph; /* of which it was made, while that is there; else NULL */
    bool keeps;    /* the program has destroyed that; it goes with this one (blocking.h) */
    struct graph_topology shape; /* entries bear the names of the nodes it was instantiated from */
    struct graph_steps merged;   /* of the shape, unless that changed since */
    bool changed;
    bool wrong;               /* pointers of its nodes may be, and nobody has looked yet */
    uint64_t unknown_kernels; /* that were counted of it */
    csan_snapshot *last;      /* the end of its newest launch */
    uint64_t serial; /* distinguishes it from others with the same handle before and after it */
    struct graph_learning learning;
    UT_hash_handle hh;
};

/* NULL: csan did not see it made. */
struct graph_exec *graph_exec_find(CUgraphExec handle);
/* Checks its shape and makes its steps, when that is due. False: memory is short. */
bool graph_exec_prepare(struct graph_exec *exec);
void graph_exec_launched(void); /* counts it */

#endif
