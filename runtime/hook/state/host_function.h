/* Host functions: those in flight in a stream, and those that are nodes of graphs. A graph's node
 * gets a function of csan's in place of the program's, so that csan knows which launch a call
 * belongs to. */
#ifndef RUNTIME_HOOK_STATE_HOST_FUNCTION_H
#define RUNTIME_HOOK_STATE_HOST_FUNCTION_H

#include <csan/csan.h>
#include "runtime/hook/interpose/driver.h"

struct host_node;
struct host_call;

/* An access that the calling thread makes. Within a host function its site also names the call that
 * enqueued the function. Without the hooks' lock. */
csan_site host_function_site(csan_site site);

/* What the program passed: one of the two functions, and its argument. */
struct host_call_target {
    CUhostFn function;
    CUstreamCallback callback;
    void *data;
};
/* Call these around the call that enqueues the function. The driver gets one of the functions below
 * and the host_call in place of the program's. NULL: csan cannot follow the call, and it is passed
 * on unchanged. Without the hooks' lock. */
struct host_call *host_call_begin(CUstream handle, bool thread_default, const char *name,
                                  const struct host_call_target *target);
void host_call_end(struct host_call *call, CUresult result, CUstream handle, bool thread_default);
void CUDA_CB host_call_run(void *call);
void CUDA_CB host_call_run_callback(CUstream stream, CUresult status, void *call);

/* The node for a function and its argument, which may be a node already. NULL when memory is short.
 * Nodes live as long as the process. Without the hooks' lock. */
struct host_node *host_node_of(CUhostFn function, void *data);
/* Replaces function and argument by the node. NULL, and nothing changes, when there is no function
 * or no memory. */
struct host_node *host_node_wrap(CUhostFn *function, void **data);
/* Replaces the node by what the program passed. */
void host_node_unwrap(CUhostFn *function, void **data);

/* Each launch calls the node once. All of these need the hooks' lock. begin: before the launch, by
 * a call of that site; NULL when memory is short. is_enqueued: the function comes after all that
 * `lane` has done, and the lane then comes after the function. failed: there was no launch. The
 * last two end the caller's use of the call. */
struct host_call *host_node_begin(struct host_node *node, csan_site site, uint64_t stream);
void host_node_is_enqueued(struct host_call *call, csan_lane lane);
void host_node_failed(struct host_node *node, struct host_call *call);

/* Called when a function begins without the host being ordered after what came before it. Set it
 * before any hook is entered; NULL: no calls. */
extern void (*host_function_on_unordered)(void);

#endif
