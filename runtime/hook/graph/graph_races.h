/* Races inside one graph: compares its nodes with each other, in the order that the edges give. */
#ifndef RUNTIME_HOOK_GRAPH_GRAPH_RACES_H
#define RUNTIME_HOOK_GRAPH_GRAPH_RACES_H

#include "runtime/hook/graph/graph_topology.h"

/* Reports, as any race, two nodes that no path orders and that touch the same bytes, one of them
 * writing. It costs about as much as enqueuing every node once. For each node of an operator that
 * captured several, it also looks at those before it. */
void graph_races_find(const struct graph_topology *shape);

#endif
