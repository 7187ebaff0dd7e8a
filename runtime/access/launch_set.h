/* One launch's access set from the kernel's graph. access_set.h is the way in; this is what it does
 * when no equal launch was seen before. */
#ifndef RUNTIME_ACCESS_LAUNCH_SET_H
#define RUNTIME_ACCESS_LAUNCH_SET_H

#include "runtime/access/values/value_graph.h"
#include "runtime/access/range_list.h"

enum { LAUNCH_SET_BASES = 64 };

/* What was found out, in a pool that the next launch uses again. */
struct launch_set {
    struct range_list *ranges;
    const struct access_base *bases;
    uint32_t base_count;
    bool *unresolved; /* by access of the graph: not in `ranges`, only directions know it */
    bool any_unresolved;
    bool reads_memory;
    bool *consumed; /* by byte of the parameters */
    bool exhausted; /* the budget ended first: nothing of this holds but `consumed` */
};

/* Memory of one evaluation; taken and given back, so that a launch does not allocate. */
struct workspace;
struct workspace *workspace_take(const struct value_graph *graph);
void workspace_give(struct workspace *workspace);

/* Evaluates the launch. The result lies in the workspace. */
struct launch_set *launch_set_find(struct workspace *workspace, const struct value_graph *graph,
                                   const struct access_launch *launch);

#endif
