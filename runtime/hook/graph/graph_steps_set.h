/* Merges the access sets of many nodes into one. Equal ranges are kept once, neighbouring intervals
 * of one site and argument are joined, and what is surely overwritten is left out. Whatever races
 * with one of the nodes races with the set, and the other way round. Each range has the site of one
 * node that touches it. */
#ifndef RUNTIME_HOOK_GRAPH_GRAPH_STEPS_SET_H
#define RUNTIME_HOOK_GRAPH_GRAPH_STEPS_SET_H

#include "runtime/hook/graph/graph_steps.h"

struct graph_steps_set;

/* A set with room for so many accesses. NULL when memory is short. */
struct graph_steps_set *graph_steps_set_create(size_t accesses);
void graph_steps_set_free(struct graph_steps_set *set);
/* Adds an access. It belongs to the work, and must stay where it is. */
void graph_steps_set_add(struct graph_steps_set *set, const struct graph_node_work *work,
                         const struct csan_access *access);
/* One op for each site, once all accesses were added. The caller frees ops and their accesses, also
 * when memory is short (false). */
bool graph_steps_set_ops(struct graph_steps_set *set, struct graph_step_op **ops, size_t *count);

#endif
