/* The access sets of many nodes made into one: equal ranges once, neighbouring intervals of one
 * site and argument joined, and nothing that is surely written over. Whoever races with one of the
 * nodes races with the set, and the other way round; each range has the site of a node that touches
 * it. */
#ifndef RUNTIME_HOOK_GRAPH_GRAPH_STEPS_SET_H
#define RUNTIME_HOOK_GRAPH_GRAPH_STEPS_SET_H

#include "runtime/hook/graph/graph_steps.h"

struct graph_steps_set;

/* With room for so many accesses. NULL when memory is short. */
struct graph_steps_set *graph_steps_set_create(size_t accesses);
void graph_steps_set_free(struct graph_steps_set *set);
/* The access is the work's, and stays where it is. */
void graph_steps_set_add(struct graph_steps_set *set, const struct graph_node_work *work,
                         const struct csan_access *access);
/* One op for each site, once all was added. Ops and their accesses are the caller's to free, also
 * when memory is short (false). */
bool graph_steps_set_ops(struct graph_steps_set *set, struct graph_step_op **ops, size_t *count);

#endif
