/* The bodies of conditional nodes, which are graphs: the driver gives them out when the node is
 * added, and nobody can ask for them later. Owns the table from nodes to bodies. With the hooks'
 * lock inside. */
#ifndef RUNTIME_HOOK_GRAPH_GRAPH_BODIES_H
#define RUNTIME_HOOK_GRAPH_GRAPH_BODIES_H

#include "runtime/hook/interpose/driver.h"

/* A node was added with these parameters, as the driver filled them in. Of nodes of other kinds it
 * notes nothing. */
void graph_bodies_note(CUgraphNode node, const CUgraphNodeParams *params);
void graph_bodies_forget(CUgraphNode node);
/* A copy of the node's bodies, to be freed, *count of them. NULL: they are not known. */
CUgraph *graph_bodies_find(CUgraphNode node, unsigned *count);

#endif
