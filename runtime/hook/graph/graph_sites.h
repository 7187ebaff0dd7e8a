/* The sites of a graph's nodes for a call that launches it: where the node was made, and where it
 * was launched. Each costs a look-up of a stack. So those of the newest few calls are kept: a
 * program launches a graph from one place, or from a few in turn. With the hooks' lock. */
#ifndef RUNTIME_HOOK_GRAPH_GRAPH_SITES_H
#define RUNTIME_HOOK_GRAPH_GRAPH_SITES_H

#include "runtime/hook/state/callsite.h"
#include "runtime/hook/graph/graph_steps.h"
#include "runtime/hook/graph/graph_node_accesses.h"

/* The call is the newest that launched the graph. From here on it is merged->launch, and its sites
 * are merged->launched. */
void graph_sites_launch(struct graph_steps *merged, csan_site call,
                        const struct callsite_stack *stack);

/* The site of the step's i-th op. Births come before all ops, deaths after them. */
static inline csan_site graph_sites_op(const struct graph_steps *merged,
                                       const struct graph_step *step, size_t i)
{
    return merged->launched ? merged->launched[step->first + step->birth_count + i]
                            : step->ops[i].site;
}
static inline csan_site graph_sites_birth(const struct graph_steps *merged,
                                          const struct graph_step *step, size_t i)
{
    return merged->launched ? merged->launched[step->first + i] : step->births[i]->site;
}
static inline csan_site graph_sites_death(const struct graph_steps *merged,
                                          const struct graph_step *step, size_t i)
{
    return merged->launched ? merged->launched[step->first + step->birth_count + step->op_count + i]
                            : step->deaths[i]->site;
}

#endif
