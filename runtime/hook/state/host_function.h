/* Host functions: those in flight in a stream, and those that are nodes of graphs. In a graph the
 * driver is given a node of csan's in place of the program's function, so that csan knows which
 * launch a call belongs to. */
#ifndef RUNTIME_HOOK_STATE_HOST_FUNCTION_H
#define RUNTIME_HOOK_STATE_HOST_FUNCTION_H

#include <csan/csan.h>
#include "runtime/hook/interpose/driver.h"

struct host_node;
struct host_call;

/* An access that the calling thread makes: within a host function its site also names the call that
 * enqueued the function. Without the hooks' lock. */
csan_site host_function_site(csan_site site);

/* What the program gave: one of the two, and its argument. */
struct host_call_target {
    CUhostFn function;
    CUstreamCallback callback;
    void *data;
};
/* Around the call that enqueues it, which is given one of the functions below and the host_call in
 * place of the program's. NULL when csan cannot follow the call: it is then passed on as it is.
 * Without the hooks' lock. */
struct host_call *host_call_begin(CUstream handle, bool thread_default, const char *name,
                                  const struct host_call_target *target);
void host_call_end(struct host_call *call, CUresult result, CUstream handle, bool thread_default);
void CUDA_CB host_call_run(void *call);
void CUDA_CB host_call_run_callback(CUstream stream, CUresult status, void *call);

/* The node for a function and its argument, which may be one already. NULL when memory is short.
 * Nodes live as long as the process. Without the hooks' lock. */
struct host_node *host_node_of(CUhostFn function, void *data);
/* Put the node in their place; NULL, and nothing is changed, when there is no function or no
 * memory. */
struct host_node *host_node_wrap(CUhostFn *function, void **data);
/* What the program gave, in place of the node. */
void host_node_unwrap(CUhostFn *function, void **data);

/* A launch calls the node once. The rest wants the hooks' lock. begin: before the launch, by a
 * call of that site; NULL when memory is short. is_enqueued: the function comes after all that
 * `lane` has done; from then on the lane comes after the function. failed: there was no launch.
 * Both end the caller's use of the call. */
struct host_call *host_node_begin(struct host_node *node, csan_site site);
void host_node_is_enqueued(struct host_call *call, csan_lane lane);
void host_node_failed(struct host_node *node, struct host_call *call);

/* Called when a function begins without the host being ordered after what came before it. Set it
 * before any hook is entered; NULL: no calls. */
extern void (*host_function_on_unordered)(void);

#endif
