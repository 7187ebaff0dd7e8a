/* Executable graphs that keep their kernels' code. When such a graph is made, or its node changed,
 * it takes what a launch of the kernel needs at that moment. If it is launched while the code is
 * another, larger one, it ends in an illegal instruction (H200, driver 580.159.04; one made of the
 * larger code may be launched with either). So the tracer (runtime/tracer), which changes code,
 * learns of these graphs here. */
#ifndef RUNTIME_HOOK_GRAPH_GRAPH_CODE_H
#define RUNTIME_HOOK_GRAPH_GRAPH_CODE_H

#include "runtime/hook/graph/graph_topology.h"

/* A call of the driver that puts kernels into an executable graph. */
struct graph_code {
    struct trace_code *kernels;
    size_t count;
    bool others; /* and such that are not known */
    bool is_noted;
};

/* Call it before a call that makes an executable graph of a graph, or updates one; NULL: its nodes
 * are not known. Without locks. */
struct graph_code graph_code_begin(const struct graph_topology *shape);
/* Before one that changes a node. */
struct graph_code graph_code_begin_node(const CUgraphNodeParams *params);
/* After either. */
void graph_code_end(struct graph_code *code, CUresult result);

#endif
