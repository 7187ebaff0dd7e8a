/* Makes one launch's access set from the kernel's graph. access_set.h calls it if no equal launch
 * was seen before. */
#ifndef RUNTIME_ACCESS_LAUNCH_SET_H
#define RUNTIME_ACCESS_LAUNCH_SET_H

#include "runtime/access/values/value_graph.h"
#include "runtime/access/range_list.h"

enum { LAUNCH_SET_BASES = 64 };

/* The result, in a pool that the next launch reuses. */
struct launch_set {
    struct range_list *ranges;
    const struct access_base *bases;
    uint32_t base_count;
    bool *unresolved; /* by access of the graph: `ranges` lacks it, only directions know it */
    bool any_unresolved;
    bool reads_memory;
    bool *consumed; /* by byte of the parameters */
    bool exhausted; /* the budget was used up: only `consumed` is valid */
};

/* Memory of one evaluation. It is borrowed and given back, so that a launch does not allocate. */
struct workspace;
struct workspace *workspace_take(const struct value_graph *graph);
void workspace_give(struct workspace *workspace);

/* Evaluates the launch. The result lies in the workspace. */
struct launch_set *launch_set_find(struct workspace *workspace, const struct value_graph *graph,
                                   const struct access_launch *launch);

#endif
