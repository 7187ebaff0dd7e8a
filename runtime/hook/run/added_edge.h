/* Added orders between the nodes of one graph: see added_order.h. */
#ifndef RUNTIME_HOOK_RUN_ADDED_EDGE_H
#define RUNTIME_HOOK_RUN_ADDED_EDGE_H

#include "runtime/hook/interpose/driver.h"

/* Before an executable is made of the graph, or updated by it: what was made at FROM comes before
 * what was made at TO, where nothing orders the two yet and the graph's order allows it. */
void added_edges(CUgraph graph);

#endif
