/* Added orders between the nodes of one graph: see added_order.h. */
#ifndef RUNTIME_HOOK_RUN_ADDED_EDGE_H
#define RUNTIME_HOOK_RUN_ADDED_EDGE_H

#include "runtime/hook/interpose/driver.h"

/* Call it before an executable graph is made of the graph, or updated by it. Orders nodes that were
 * made at FROM before nodes that were made at TO, if nothing orders the two yet and the graph's
 * order allows it. */
void added_edges(CUgraph graph);

#endif
