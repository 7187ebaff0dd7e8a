/* Nodes that copy in batches, which CUDA has from 13.1 on: what they touch. */
#ifndef RUNTIME_HOOK_GRAPH_GRAPH_COPY_BATCH_H
#define RUNTIME_HOOK_GRAPH_GRAPH_COPY_BATCH_H

#include "runtime/hook/graph/graph_node_accesses.h"

/* What a node with these parameters does; NULL: it is of another type, or there is no memory. */
struct graph_node_work *graph_node_of_copy_batch(const CUgraphNodeParams *params,
                                                 const struct callsite_stack *stack);

/* The parameters of a node of params->type, as the driver reports them. CUDA_ERROR_NOT_FOUND: the
 * type is another, or the driver cannot say. Without locks. */
CUresult graph_node_ask_copy_batch(CUgraphNode node, CUgraphNodeParams *params);

#endif
