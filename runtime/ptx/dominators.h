/* Dominators of a directed graph by Lengauer and Tarjan's algorithm ("A fast algorithm for finding
 * dominators in a flowgraph", TOPLAS 1979), without recursion. O(edges * log nodes). */
#ifndef RUNTIME_PTX_DOMINATORS_H
#define RUNTIME_PTX_DOMINATORS_H

#include "runtime/ptx/arena.h"

/* Edges of node i: targets[first[i]] up to targets[first[i + 1]]. */
struct edges {
    uint32_t *first, *targets;
};

#define NO_DOMINATOR UINT32_MAX

/* immediate[i]: the immediate dominator of node i seen from `root`; the root's own is itself, a
 * node that cannot be reached has NO_DOMINATOR. */
void ptx_dominators_find(uint32_t count, uint32_t root, const struct edges *successors,
                         const struct edges *predecessors, uint32_t *immediate,
                         struct arena *scratch);

#endif
