/* What executable graphs keep of their kernels' code. What a launch of a kernel takes is put into
 * an exec when that is made, or its node changed; launched while the code is another, larger one,
 * it ends in an illegal instruction (H200, driver 580.159.04; an exec made of the larger one may be
 * launched with either). So the module that changes code (runtime/tracer) learns of such execs. */
#ifndef RUNTIME_HOOK_GRAPH_GRAPH_CODE_H
#define RUNTIME_HOOK_GRAPH_GRAPH_CODE_H

#include "runtime/hook/graph/graph_topology.h"

/* A call of the driver that puts kernels into an exec. */
struct graph_code {
    struct trace_code *kernels;
    size_t count;
    bool others; /* and such that are not known */
    bool is_noted;
};

/* Before one that makes an exec of a graph, or updates one to it; NULL: what is in it is not known.
 * Without locks. */
struct graph_code graph_code_begin(const struct graph_topology *shape);
/* Before one that changes a node. */
struct graph_code graph_code_begin_node(const CUgraphNodeParams *params);
/* After either. */
void graph_code_end(struct graph_code *code, CUresult result);

#endif
