/* Work put into a captured stream: it runs when a graph is launched, so what it touches is kept
 * with the node that the driver made of it. Forks and joins need no word here: they are edges,
 * which the driver reports at instantiation. */
#ifndef RUNTIME_HOOK_GRAPH_CAPTURE_H
#define RUNTIME_HOOK_GRAPH_CAPTURE_H

#include <csan/csan.h>
#include "runtime/hook/interpose/driver.h"

struct learning_node;
struct graph_node_work;

/* After a call that put one node into the captured stream: this is what it does. `work` is taken;
 * NULL: it is not known. Without the hooks' lock. Returns the node, or NULL when it is not to be
 * found. */
CUgraphNode capture_work(CUstream handle, bool thread_default, struct graph_node_work *work);
/* The same for an op. */
CUgraphNode capture_op(CUstream handle, bool thread_default, csan_site site, enum csan_level level,
                       const struct csan_access *accesses, size_t count);

/* The same for an operator's. */
struct operator_captured;
void capture_operator(const struct operator_captured *what);

/* The newest node that was put there is a kernel that is learned of. `learning` is
 * taken.
 */
void capture_learning(CUstream handle, bool thread_default, struct learning_node *learning);

/* Captured calls whose node is not known: they are not checked. */
uint64_t capture_unknown_count(void);

#endif
