/* Memory sets as nodes of graphs. */
#ifndef RUNTIME_HOOK_API_MEMSET_H
#define RUNTIME_HOOK_API_MEMSET_H

#include "runtime/hook/interpose/driver.h"

struct callsite_stack;
struct graph_node_work;

/* What a set node touches; NULL when memory is short. Without locks. */
struct graph_node_work *memset_of_node(const CUDA_MEMSET_NODE_PARAMS_v2 *what,
                                       const struct callsite_stack *stack);

#endif
