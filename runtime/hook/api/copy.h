/* Copies as nodes of graphs. */
#ifndef RUNTIME_HOOK_API_COPY_H
#define RUNTIME_HOOK_API_COPY_H

#include "runtime/hook/interpose/driver.h"

struct callsite_stack;
struct graph_node_work;

/* What a copy node touches; NULL when memory is short. Without locks. */
struct graph_node_work *copy_of_node(const CUDA_MEMCPY3D_v2 *what,
                                     const struct callsite_stack *stack);

#endif
