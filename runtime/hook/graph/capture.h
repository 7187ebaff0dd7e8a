/* Work in a captured stream. It runs when a graph is launched, so its accesses are kept with the
 * node that the driver made of it. Forks and joins are edges, which the driver reports at
 * instantiation; nothing is kept of them here. */
#ifndef RUNTIME_HOOK_GRAPH_CAPTURE_H
#define RUNTIME_HOOK_GRAPH_CAPTURE_H

#include <csan/csan.h>
#include "runtime/hook/interpose/driver.h"

struct learning_node;
struct graph_node_work;

/* Call it after a call that added one node to the captured stream: the node does this work. Takes
 * `work`; NULL: it is not known. Without the hooks' lock. Returns the node, or NULL if it cannot be
 * found. */
CUgraphNode capture_work(CUstream handle, bool thread_default, struct graph_node_work *work);
/* The same for an op. */
CUgraphNode capture_op(CUstream handle, bool thread_default, csan_site site, enum csan_level level,
                       const struct csan_access *accesses, size_t count);

/* The same for an operator's. */
struct operator_captured;
void capture_operator(const struct operator_captured *what);

/* The newest node that was added there is a kernel that csan learns from. Takes `learning`. */
void capture_learning(CUstream handle, bool thread_default, struct learning_node *learning);

/* The same of pointers of its that may be wrong. Takes `wrong`. */
struct wrong_pointers;
void capture_wrong(CUstream handle, bool thread_default, struct wrong_pointers *wrong);

/* How many captured calls have no known node. They are not checked. */
uint64_t capture_unknown_count(void);

#endif
