/* Host functions in flight, of cuLaunchHostFunc and cuStreamAddCallback, and as nodes of graphs.
 *
 * A host function is a lane of its own. It is ordered after what its stream held, and before what
 * the stream does later. It runs long after the stream's later work was enqueued. So that work
 * joins a promise, which the function's end keeps. With host_order=observed the host is ordered
 * after the function as soon as it ran, because programs wait for such functions by a flag that
 * csan cannot see. */
#include "runtime/hook/state/host_function.h"
#include "csan/detector/context.h"
#include "runtime/hook/state/callsite.h"
#include "runtime/hook/session/guard.h"
#include "runtime/hook/state/handle_table.h"
#include "runtime/hook/state/stream.h"
#include "runtime/hook/state/thread.h"
#include "runtime/hook/session/session_options.h"
#include "runtime/hook/session/session.h"

#include <stdlib.h>

/* One call in flight, shared by the thread that enqueues it and the one that runs it. */
struct host_call {
    struct host_call_target target;
    csan_lane lane;
    csan_site site; /* of the call that enqueued it, or launched its graph */
    csan_snapshot *promise;
    int references;
    /* Of a graph's launch, under the hooks' lock: */
    struct host_call *next; /* behind it, of the same node */
    csan_snapshot *start;   /* what it comes after: kept once the launch is enqueued */
    bool enqueued, ran;
};

/* A function with its argument, as a node of a graph: the driver is given the node in their place.
 * Each launch of such a graph makes a call; they are run in the order in which they were made. */
struct host_node {
    struct host_node_key {
        void *data; /* first: the table hashes 8 bytes */
        CUhostFn function;
    } key;
    struct host_call *calls;
    UT_hash_handle hh;
};

/* Of the function that the calling thread is in; 0: none. */
static __thread csan_site enqueued_at __attribute__((tls_model("initial-exec")));

csan_site host_function_site(csan_site site)
{
    const void *const *frames;
    size_t count;
    if (!enqueued_at)
        return site;
    context_site_stack(session_context(), enqueued_at, &frames, &count);
    return csan_site_launched(session_context(), site, frames, count);
}

static struct {
    struct host_node *nodes; /* never freed: a graph csan lost sight of may still call one */
} table;

static void host_call_release(struct host_call *call)
{
    if (__atomic_sub_fetch(&call->references, 1, __ATOMIC_ACQ_REL) > 0)
        return;
    if (call->promise)
        csan_snapshot_release(session_context(), call->promise);
    if (call->start)
        csan_snapshot_release(session_context(), call->start);
    if (call->lane != CSAN_NO_LANE)
        csan_lane_destroy(session_context(), call->lane);
    free(call);
}

struct host_call *host_call_begin(CUstream handle, bool thread_default, const char *name,
                                  const struct host_call_target *target)
{
    struct host_call *call = calloc(1, sizeof *call);
    const csan_site site = call ? callsite_of(name, NULL, 0) : 0;
    struct stream *stream = call ? stream_lock_known(handle, thread_default) : NULL;
    if (!stream) {
        free(call);
        return NULL;
    }
    call->references = 2;
    call->target = *target;
    call->lane = thread_makes_lane_as(CSAN_LANE_FUNCTION, (uintptr_t)handle, "a host function");
    call->site = site;
    call->promise = csan_snapshot_promise(session_context());
    stream_look(stream);
    if (call->lane != CSAN_NO_LANE)
        csan_lane_waits(session_context(), call->lane, stream_lane(stream));
    guard_unlock();
    return call;
}

/* The stream's later work waits for the function, which may have run already. */
void host_call_end(struct host_call *call, CUresult result, CUstream handle, bool thread_default)
{
    if (result != CUDA_SUCCESS) {
        host_call_release(call); /* it will never run */
    } else if (call->promise) {
        struct stream *stream = stream_lock_known(handle, thread_default);
        if (stream) {
            stream_use(stream);
            csan_snapshot_join(session_context(), stream_lane(stream), call->promise);
            guard_unlock();
        }
    }
    host_call_release(call);
}

/* On the driver's thread. Deferred work was launched before the function began, or before it ended.
 */
static uint32_t host_enter(void)
{
    const uint32_t depth = guard_self.depth;
    guard_self.depth = 1;
    guard_self.hosted = true;
    if (session_state == SESSION_ON)
        deferred_flush();
    return depth;
}

static void host_leave(uint32_t depth)
{
    guard_self.depth = depth;
    guard_self.hosted = false;
}

void (*host_function_on_unordered)(void);

/* `known`: csan has enqueued it. */
static void function_begins(const struct host_call *call, bool known)
{
    if (known && session_options()->host_observed)
        csan_lane_waits(session_context(), CSAN_HOST, call->lane);
    else if (host_function_on_unordered)
        host_function_on_unordered();
}

/* On the driver's thread, around the program's function, which is outside csan as far as the
 * thread's depth goes: host accesses that it declares are its lane's. A driver may also call it
 * from within the call that enqueues it. Returns the depth to go back to. */
static uint32_t host_call_start(struct host_call *call)
{
    uint32_t depth = host_enter();
    if (session_state == SESSION_ON && call->lane != CSAN_NO_LANE) {
        function_begins(call, true);
        thread_in_function(call->lane);
        enqueued_at = call->site;
    }
    guard_self.depth = 0;
    return depth;
}

static void host_call_ran(struct host_call *call, uint32_t depth)
{
    host_enter();
    thread_in_function(CSAN_HOST);
    enqueued_at = 0;
    if (session_state == SESSION_ON) {
        if (call->lane != CSAN_NO_LANE && call->promise)
            csan_snapshot_keep(session_context(), call->promise, call->lane);
        if (call->lane != CSAN_NO_LANE && session_options()->host_observed)
            csan_lane_waits(session_context(), CSAN_HOST, call->lane);
        host_call_release(call);
    }
    host_leave(depth);
}

void CUDA_CB host_call_run(void *user)
{
    struct host_call *call = user;
    uint32_t depth = host_call_start(call);
    call->target.function(call->target.data);
    host_call_ran(call, depth);
}

void CUDA_CB host_call_run_callback(CUstream stream, CUresult status, void *user)
{
    struct host_call *call = user;
    uint32_t depth = host_call_start(call);
    call->target.callback(stream, status, call->target.data);
    host_call_ran(call, depth);
}

/* ---- In graphs ----------------------------------------------------------------------------- */

/* The function ran, and its launch was enqueued: what comes behind it may go on. With the lock
 * held. */
static void host_call_settle(struct host_call *call)
{
    csan_snapshot_keep(session_context(), call->promise, call->lane);
    if (session_options()->host_observed)
        csan_lane_waits(session_context(), CSAN_HOST, call->lane);
}

static struct host_call *host_node_take(struct host_node *node)
{
    guard_lock();
    struct host_call *call = node->calls;
    if (call)
        node->calls = call->next;
    guard_unlock();
    return call;
}

static void CUDA_CB host_node_run(void *user)
{
    struct host_node *node = user;
    uint32_t depth = host_enter();
    struct host_call *call = session_state == SESSION_ON ? host_node_take(node) : NULL;
    if (call) {
        guard_lock();
        function_begins(call, call->enqueued);
        guard_unlock();
        thread_in_function(call->lane);
        enqueued_at = call->site;
    }
    guard_self.depth = 0;
    node->key.function(node->key.data);
    host_enter();
    if (call && session_state == SESSION_ON) {
        thread_in_function(CSAN_HOST);
        enqueued_at = 0;
        guard_lock();
        call->ran = true;
        if (call->enqueued)
            host_call_settle(call);
        guard_unlock();
        host_call_release(call);
    }
    host_leave(depth);
}

struct host_node *host_node_of(CUhostFn function, void *data)
{
    if (function == host_node_run)
        return data;
    struct host_node_key key = {data, function};
    struct host_node *node = NULL;
    guard_lock();
    HASH_FIND(hh, table.nodes, &key, sizeof key, node);
    if (!node && (node = calloc(1, sizeof *node)) != NULL) {
        node->key = key;
        HASH_ADD(hh, table.nodes, key, sizeof key, node);
    }
    guard_unlock();
    return node;
}

struct host_node *host_node_wrap(CUhostFn *function, void **data)
{
    struct host_node *node = *function ? host_node_of(*function, *data) : NULL;
    if (!node)
        return NULL;
    *function = host_node_run;
    *data = node;
    return node;
}

void host_node_unwrap(CUhostFn *function, void **data)
{
    if (*function != host_node_run)
        return;
    const struct host_node *node = *data;
    *function = node->key.function;
    *data = node->key.data;
}

struct host_call *host_node_begin(struct host_node *node, csan_site site, uint64_t stream)
{
    struct host_call *call = calloc(1, sizeof *call);
    if (!call)
        return NULL;
    call->references = 2;
    call->lane = thread_makes_lane_as(CSAN_LANE_FUNCTION, stream, "a host function");
    call->site = site;
    call->promise = csan_snapshot_promise(session_context());
    call->start = csan_snapshot_promise(session_context());
    if (call->lane == CSAN_NO_LANE || !call->promise || !call->start) {
        call->references = 1;
        host_call_release(call);
        return NULL;
    }
    csan_snapshot_join(session_context(), call->lane, call->start);
    struct host_call **last = &node->calls;
    while (*last)
        last = &(*last)->next;
    *last = call;
    return call;
}

void host_node_is_enqueued(struct host_call *call, csan_lane lane)
{
    call->enqueued = true;
    csan_snapshot_keep(session_context(), call->start, lane);
    csan_snapshot_join(session_context(), lane, call->promise);
    if (call->ran)
        host_call_settle(call);
    host_call_release(call);
}

void host_node_failed(struct host_node *node, struct host_call *call)
{
    struct host_call **link = &node->calls;
    while (*link && *link != call)
        link = &(*link)->next;
    if (*link) {
        *link = call->next;
        host_call_release(call); /* nobody will run it */
    }
    csan_snapshot_keep(session_context(), call->start, thread_lane());
    host_call_release(call);
}
