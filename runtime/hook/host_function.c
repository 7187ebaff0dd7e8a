/* The hooks of host functions: cuLaunchHostFunc and cuStreamAddCallback.
 *
 * A host function is a lane of its own: ordered after what its stream held, and before what the
 * stream does later. It runs long after the stream's later work was enqueued, so that work joins a
 * promise which the function's end keeps. With host_order=observed the host is ordered after the
 * function as soon as it ran: programs wait for such functions by a flag that csan cannot see. */
#include "driver_hooks.h"
#include "runtime/hook/annotate.h"
#include "runtime/hook/guard.h"
#include "runtime/hook/stream.h"

#include <stdlib.h>

/* One call in flight, shared by the thread that enqueues it and the one that runs it. */
struct host_call {
    CUhostFn function;
    CUstreamCallback callback;
    void *data;
    csan_lane lane;
    csan_snapshot *promise;
    int references;
};

static void host_call_release(struct host_call *call)
{
    if (__atomic_sub_fetch(&call->references, 1, __ATOMIC_ACQ_REL) > 0)
        return;
    if (call->promise)
        csan_snapshot_release(process_context(), call->promise);
    if (call->lane != CSAN_NO_LANE)
        csan_lane_destroy(process_context(), call->lane);
    free(call);
}

/* NULL when csan cannot follow the call: it is then passed on as it is. */
static struct host_call *host_call_begin(CUstream handle, bool thread_default)
{
    if (stream_is_captured(handle, thread_default))
        return NULL; /* it would run once for each launch of the graph, or never */
    struct host_call *call = calloc(1, sizeof *call);
    struct stream *stream = call ? stream_lock_known(handle, thread_default) : NULL;
    if (!stream) {
        free(call);
        return NULL;
    }
    call->references = 2;
    call->lane = csan_lane_create(process_context(), (uintptr_t)handle, "a host function");
    call->promise = csan_snapshot_promise(process_context());
    stream_look(stream);
    if (call->lane != CSAN_NO_LANE)
        csan_lane_waits(process_context(), call->lane, stream_lane(stream));
    guard_unlock();
    return call;
}

/* The call was made: the stream's later work waits for the function, which may have run already. */
static void host_call_end(struct host_call *call, CUresult result, CUstream handle,
                          bool thread_default)
{
    if (result != CUDA_SUCCESS) {
        host_call_release(call); /* it will never run */
    } else if (call->promise) {
        struct stream *stream = stream_lock_known(handle, thread_default);
        if (stream) {
            stream_use(stream);
            csan_snapshot_join(process_context(), stream_lane(stream), call->promise);
            guard_unlock();
        }
    }
    host_call_release(call);
}

/* On the driver's thread, around the program's function, which is outside csan as far as the
 * thread's depth goes: host accesses that it tells of are its lane's. A driver may also call it
 * from within the call that enqueues it. Returns the depth to go back to. */
static uint32_t host_call_start(struct host_call *call)
{
    uint32_t depth = guard_self.depth;
    guard_self.depth = 1;
    if (driver_hooks_on == DRIVER_ON && call->lane != CSAN_NO_LANE) {
        if (process_options()->host_observed)
            csan_lane_waits(process_context(), CSAN_HOST, call->lane);
        annotate_host_lane(call->lane);
    }
    guard_self.depth = 0;
    return depth;
}

static void host_call_ran(struct host_call *call, uint32_t depth)
{
    guard_self.depth = 1;
    annotate_host_lane(CSAN_HOST);
    if (driver_hooks_on == DRIVER_ON) {
        if (call->lane != CSAN_NO_LANE && call->promise)
            csan_snapshot_keep(process_context(), call->promise, call->lane);
        if (call->lane != CSAN_NO_LANE && process_options()->host_observed)
            csan_lane_waits(process_context(), CSAN_HOST, call->lane);
        host_call_release(call);
    }
    guard_self.depth = depth;
}

static void CUDA_CB run_function(void *user)
{
    struct host_call *call = user;
    uint32_t depth = host_call_start(call);
    call->function(call->data);
    host_call_ran(call, depth);
}

static void CUDA_CB run_callback(CUstream stream, CUresult status, void *user)
{
    struct host_call *call = user;
    uint32_t depth = host_call_start(call);
    call->callback(stream, status, call->data);
    host_call_ran(call, depth);
}

CUresult hook_launch_host_function(const struct driver_entry *entry, CUstream hStream, CUhostFn fn,
                                   void *userData)
{
    PFN_cuLaunchHostFunc_v10000 real = DRIVER_REAL(entry, cuLaunchHostFunc_v10000);
    if (!guard_enter())
        return real(hStream, fn, userData);
    struct host_call *call = fn ? host_call_begin(hStream, entry->thread_default) : NULL;
    CUresult result;
    if (call) {
        call->function = fn;
        call->data = userData;
        result = real(hStream, run_function, call);
        host_call_end(call, result, hStream, entry->thread_default);
    } else {
        result = real(hStream, fn, userData);
    }
    guard_leave();
    return result;
}

CUresult hook_stream_add_callback(const struct driver_entry *entry, CUstream hStream,
                                  CUstreamCallback callback, void *userData, unsigned int flags)
{
    PFN_cuStreamAddCallback_v5000 real = DRIVER_REAL(entry, cuStreamAddCallback_v5000);
    if (!guard_enter())
        return real(hStream, callback, userData, flags);
    struct host_call *call = callback ? host_call_begin(hStream, entry->thread_default) : NULL;
    CUresult result;
    if (call) {
        call->callback = callback;
        call->data = userData;
        result = real(hStream, run_callback, call, flags);
        host_call_end(call, result, hStream, entry->thread_default);
    } else {
        result = real(hStream, callback, userData, flags);
    }
    guard_leave();
    return result;
}
